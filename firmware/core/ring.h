// The transmit ring: finished frames on their way to the serial line
//
// 256 bytes, so that an index is one byte: it wraps by itself, is read and written in one instruction on every chip
// (no lock between the core and a transmit interrupt), and costs an 8-bit chip nothing. Two DATA frames of 113 bytes
// fit. That is enough: when the line is slower than the sensor for a moment the samples wait in the sensor's own
// FIFO, and when it is slower for good no buffer helps.
//
// The core writes behind the head and moves the head only when a frame is whole. So the line never shows a torn frame,
// and a frame that turns out to be rubbish (the sensor fell off in the middle) is simply not published.
#ifndef IGLOO_RING_H
#define IGLOO_RING_H

#include <stdint.h>

extern volatile uint8_t ring_head; // first free byte, moved by the core only
extern volatile uint8_t ring_tail; // next byte to send, moved by the board's transmitter only

// Aligned, so that an 8-bit chip has a byte's address by putting the index into the lower half of it.
extern uint8_t ring_bytes[256] __attribute__((aligned(256)));

// How many bytes may still be written; one place stays empty to tell a full ring from an empty one.
static inline uint8_t ring_room(void)
{
    return (uint8_t)(ring_tail - ring_head - 1);
}

#endif
