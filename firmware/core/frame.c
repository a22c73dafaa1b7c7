// Frames: body, CRC, COBS, one zero byte; written straight into the transmit ring
//
// COBS replaces every zero of the frame by the distance to the next one, so that a zero on the line is a delimiter
// and nothing else: a reader that comes in the middle, or after a broken byte, is in step again at the next one.
// Body and CRC are at most 111 bytes, so a distance never reaches 255 and no code byte has to be inserted: each byte
// has its place in the ring the moment it is known. The encoder remembers where the last code byte belongs and
// fills it in when the next zero (or the end) comes, so there is no second buffer and no second pass.
#include "frame.h"

#include "crc.h"
#include "port.h"
#include "ring.h"

volatile uint8_t ring_head;
volatile uint8_t ring_tail;
uint8_t ring_bytes[256] __attribute__((aligned(256)));

static struct {
    uint8_t at;      // where the next byte goes
    uint8_t code_at; // where the code byte of the current run goes
    uint16_t crc;
    uint16_t seq; // of the next frame, sent or dropped
} out;

void frame_reset(void)
{
    ring_head = 0;
    ring_tail = 0;
    out.seq = 0;
}

bool frame_fits(uint8_t payload, uint8_t reserve)
{
    return ring_room() >= (uint16_t)payload + FRAME_OVERHEAD + reserve;
}

void frame_open(enum frame_type type)
{
    out.code_at = ring_head;
    out.at = (uint8_t)(out.code_at + 1);
    out.crc = CRC_START;
    frame_put_u8((uint8_t)type);
    frame_put_u16(out.seq);
}

// The hot loop: every byte of every sample. The state lives in locals so that the compiler keeps it in registers.
void frame_put(const uint8_t *bytes, uint8_t count)
{
    uint8_t at = out.at;
    uint8_t code_at = out.code_at;
    uint16_t crc = out.crc;
    do {
        uint8_t byte = *bytes++;
        crc = crc_update(crc, byte);
        if (byte == 0) {
            ring_bytes[code_at] = (uint8_t)(at - code_at);
            code_at = at;
        }
        // A zero's place is written too: it is the next code byte's, and is overwritten when that is known.
        ring_bytes[at++] = byte;
    } while (--count);
    out.at = at;
    out.code_at = code_at;
    out.crc = crc;
}

void frame_put_u8(uint8_t value)
{
    frame_put(&value, 1);
}

void frame_put_u16(uint16_t value)
{
    uint8_t bytes[2] = {(uint8_t)value, (uint8_t)(value >> 8)};
    frame_put(bytes, 2);
}

void frame_put_u32(uint32_t value)
{
    frame_put_u16((uint16_t)value);
    frame_put_u16((uint16_t)(value >> 16));
}

void frame_close(void)
{
    frame_put_u16(out.crc);
    ring_bytes[out.code_at] = (uint8_t)(out.at - out.code_at);
    ring_bytes[out.at] = 0;
    out.seq++;
    // The bytes must be in the ring before the transmitter may see them: the compiler may not move the stores above
    // past this line. (Both chips have one core that sees its own stores in order.)
    __asm__ volatile("" ::: "memory");
    ring_head = (uint8_t)(out.at + 1);
    port_transmit();
}

void frame_skip(void)
{
    out.seq++;
}
