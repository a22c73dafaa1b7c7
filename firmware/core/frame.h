// Frames: body, CRC, COBS, one zero byte; written straight into the transmit ring
#ifndef IGLOO_FRAME_H
#define IGLOO_FRAME_H

#include <stdbool.h>
#include <stdint.h>

enum frame_type { FRAME_HELLO = 1, FRAME_DATA = 2, FRAME_STATUS = 3 };

// Bytes on the line beside the payload: COBS code, type, seq (2), CRC (2), delimiter.
#define FRAME_OVERHEAD 7

// Is there room for a frame with this payload, and `reserve` bytes more?
bool frame_fits(uint8_t payload, uint8_t reserve);

// Begin a frame. Nothing is on the line before frame_close(); a frame not closed is forgotten by the next open.
void frame_open(enum frame_type type);
void frame_put(const uint8_t *bytes, uint8_t count); // count is at least 1
void frame_put_u8(uint8_t value);
void frame_put_u16(uint16_t value);
void frame_put_u32(uint32_t value);
void frame_close(void);

// A frame that had to be dropped: its number is used up, so that the reader sees the gap.
void frame_skip(void);

// Begin again from an empty ring and number 0, as after a reset.
void frame_reset(void);

#endif
