// What the sensor feels: waveforms on request, and rest in between
//
// A waveform is a file of 32-bit floats, three a sample (x, y, z in g), one sample for each that the sensor takes. At
// rest the sensor feels a pose and noise. The noise of the real part at 3200 Hz is some 12 mg on x and y and 17 on z
// (data sheet rev. G, p. 3: 290 and 430 ug per root Hz, over 1600 Hz); it is added at rest only, as a recorded or
// computed waveform brings its own. The generator is our own, so that a run is the same on every machine.
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

uint64_t world_played;

static struct {
    float *wave;
    size_t samples, next;
    bool loop;
    double pose[3];
    double noise[3];
    uint64_t state;
} world = {.pose = {0, 0, 1}};

static double uniform(void)
{
    world.state ^= world.state << 13;
    world.state ^= world.state >> 7;
    world.state ^= world.state << 17;
    return (double)(world.state >> 11) * 0x1p-53;
}

// The sum of twelve uniforms has variance one and is as normal as a 13-bit sensor can tell.
static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform();
    return sum;
}

void world_start(double noise_g, uint64_t seed)
{
    world.noise[0] = world.noise[1] = noise_g;
    world.noise[2] = noise_g * 430 / 290;
    world.state = seed * 0x9E3779B97F4A7C15ULL + 1;
}

static void stop(void)
{
    free(world.wave);
    world.wave = NULL;
    world.samples = world.next = 0;
}

bool world_play(const char *path, bool loop)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    size_t samples = size > 0 ? (size_t)size / (3 * sizeof(float)) : 0;
    float *wave = samples ? malloc(samples * 3 * sizeof(float)) : NULL;
    bool whole = wave && fread(wave, 3 * sizeof(float), samples, file) == samples;
    fclose(file);
    if (!whole) {
        free(wave);
        return false;
    }
    stop();
    world.wave = wave;
    world.samples = samples;
    world.loop = loop;
    return true;
}

void world_rest(const double pose[3])
{
    stop();
    for (int axis = 0; axis < 3; axis++)
        world.pose[axis] = pose[axis];
}

void world_feel(void *param, double g[3])
{
    (void)param;
    if (world.wave && world.next == world.samples) {
        if (world.loop)
            world.next = 0;
        else
            stop();
    }
    if (world.wave) {
        for (int axis = 0; axis < 3; axis++)
            g[axis] = (double)world.wave[3 * world.next + (size_t)axis];
        world.next++;
        world_played++;
        return;
    }
    for (int axis = 0; axis < 3; axis++)
        g[axis] = world.pose[axis] + (world.noise[axis] > 0 ? world.noise[axis] * normal() : 0);
}
