// The simulated ADXL345 as a process: rp2040js asks it for every byte on the SPI bus
//
// In: 'S' or 'D' (selected, deselected) or 'X' (exchange), the time in picoseconds (u64), a byte. Out, for 'X': a byte.
// At the end of the input: what the model counted, as JSON on the standard error.
//
// What is felt is a row of numbers that tells its own place: sample n has x = 2 (n % 2001 - 1000) and y = 2 (n % 997) in
// units of 1/256 g, and z = 1 g, so that a reader sees a lost or doubled sample at once.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../adxl345_model.h"

static uint64_t felt;

static void feel(void *param, double g[3])
{
    (void)param;
    g[0] = 2.0 * ((double)(felt % 2001) - 1000) / 256;
    g[1] = 2.0 * (double)(felt % 997) / 256;
    g[2] = 1.0;
    felt++;
}

static void all(int file, void *into, size_t count)
{
    for (size_t have = 0; have < count;) {
        ssize_t got = read(file, (char *)into + have, count - have);
        if (got <= 0)
            exit(1);
        have += (size_t)got;
    }
}

int main(int argc, char **argv)
{
    struct adxl345_model model;
    adxl345_model_init(&model, feel, NULL);
    if (argc > 1)
        model.rate_error = atof(argv[1]);
    for (;;) {
        unsigned char request[10];
        if (read(STDIN_FILENO, request, 1) != 1)
            break;
        all(STDIN_FILENO, request + 1, sizeof request - 1);
        picoseconds now;
        memcpy(&now, request + 1, sizeof now);
        adxl345_model_advance(&model, now);
        if (request[0] == 'X') {
            unsigned char answer = adxl345_model_exchange(&model, now, request[9]);
            if (write(STDOUT_FILENO, &answer, 1) != 1)
                break;
        } else {
            adxl345_model_select(&model, now, request[0] == 'S');
        }
    }
    fprintf(stderr, "{\"taken\": %llu, \"overwritten\": %llu, \"early_reads\": %llu}\n", (unsigned long long)model.taken,
            (unsigned long long)model.overwritten, (unsigned long long)model.early_reads);
    return 0;
}
