// A reader of the line for the tests on the host, written from the protocol and not from the firmware
#ifndef WIRE_READER_H
#define WIRE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire_frame {
    uint8_t type;
    uint16_t seq;
    // HELLO
    uint8_t fw, bw_rate, data_format;
    uint16_t rate_hz, ug_per_lsb, unit;
    uint32_t f_cpu, baud;
    // HELLO and STATUS
    uint8_t devid;
    // DATA and STATUS
    uint32_t t_us;
    // DATA
    uint32_t index;
    uint8_t flags, n;
    int16_t samples[16][3];
    // STATUS
    uint8_t state, fifo_max;
    uint32_t read;
    uint16_t overruns, tx_dropped;
};

// Decode the frame that ends with the next delimiter at or after *at and move *at behind it. False at the end of the
// bytes. A frame that is wrong in any way ends the test with a sentence.
bool wire_next(const uint8_t *bytes, size_t count, size_t *at, struct wire_frame *frame);

uint16_t wire_crc(const uint8_t *bytes, size_t count);

#endif
