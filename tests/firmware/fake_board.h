// A board for the tests on the host: virtual time, the simulated sensor, a serial line of a given speed
#ifndef FAKE_BOARD_H
#define FAKE_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "adxl345_model.h"

struct fake_board {
    struct adxl345_model sensor;
    uint64_t us;          // virtual time since the board began to exist; port_now_us() adds clock_offset
    uint32_t clock_offset;
    uint32_t bytes_per_ms; // of the line: 50 is 500000 baud
    uint32_t stall_ms;    // the next port_wait() takes so much longer
    uint64_t transfers;   // sensor accesses so far
    uint64_t cut_at;      // the sensor's supply fails at this access; 0: never
    bool garbage;         // the sensor's line delivers random bytes
    uint64_t random;
    uint16_t unit;
    unsigned unit_writes;

    uint8_t wire[1 << 22]; // everything sent
    size_t wired;
    int16_t incoming[1 << 17]; // bytes and line errors for port_receive()
    size_t incoming_from, incoming_to;
};

extern struct fake_board board;

void board_start(void);             // 500000 baud, a sensor that counts its samples (see board_sample)
void board_run(uint32_t ms);        // wait and poll for so long
void board_send(const char *bytes, size_t count);
uint64_t board_random(void);

// The sensor feels sample number n as these three values, in LSB: different for each n for a long time, even.
void board_sample(uint64_t n, int16_t xyz[3]);

#endif
