// The bench: the real image in simavr, a simulated ADXL345 on its SPI, its serial line on a pseudo-terminal
//
// What the parts of the bench share. One bench a process, so there is one of everything.
#ifndef BENCH_H
#define BENCH_H

#include <simavr/sim_avr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "adxl345_model.h"

struct bench {
    avr_t *avr;
    struct adxl345_model sensor;
    picoseconds ps_per_cycle;
    bool paced; // held to real time
    bool held;  // waits for `go`
    bool quit;

    uint64_t started_at;      // cycle of the last reset
    uint64_t asleep;          // cycles
    uint64_t interrupts;
    uint64_t late_us_max;     // how far the simulation fell behind real time, paced
    double wall_s;            // running, without the time before `go`
    double cpu_s;             // of this process
};

extern struct bench bench;

static inline picoseconds bench_now(void)
{
    return bench.avr->cycle * bench.ps_per_cycle;
}

// spi.c: the SPI master of the ATmega328P, cycle-exact, with the sensor on it
struct spi_counts {
    uint64_t bytes;
    uint64_t collisions; // SPDR written during a transfer
    uint64_t refused;    // bytes in a mode or at a speed that the sensor does not understand
};
extern struct spi_counts spi_counts;
void spi_attach(void);
void spi_reset(void);

// line.c: the UART on a pseudo-terminal
struct line_counts {
    uint64_t sent;     // bytes from the AVR
    uint64_t unread;   // of them, while nobody had the port open
    uint64_t received; // bytes to the AVR
    uint64_t stalls;   // times when simulated time had to wait for a slow reader
    double stalled_s;
};
extern struct line_counts line_counts;
void line_open(const char *link, const char *tee); // opens the pseudo-terminal and prints `port PATH`
void line_attach(void);
void line_service(void); // move what has come, wait where nothing may be lost
bool line_inject(const uint8_t *bytes, size_t count); // as if they had come over the line; false: too many at once
void line_close(void);

// world.c: what the sensor feels
extern uint64_t world_played; // samples of waveforms felt
void world_start(double noise_g, uint64_t seed);
bool world_play(const char *path, bool loop);
void world_rest(const double pose[3]);
void world_feel(void *param, double g[3]);

// control.c: commands from standard input
void control_service(int timeout_ms);

// main.c
void bench_print_statistics(void);
void bench_reset(void); // the reset button
void bench_go(void);

#endif
