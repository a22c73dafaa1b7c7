// CRC-16/MCRF4XX: polynomial 0x1021 reflected (0x8408), start 0xFFFF, no final xor; "123456789" gives 0x6F91
//
// It is what the X.25 family computes before its final xor, and what avr-libc has as _crc_ccitt_update() in
// hand-written assembler: 22,600 bytes a second pass through here, and there it costs a third less than compiled C.
#ifndef IGLOO_CRC_H
#define IGLOO_CRC_H

#include <stdint.h>

#define CRC_START 0xFFFFu

#ifdef __AVR__
#include <util/crc16.h>
#define crc_update _crc_ccitt_update
#else
static inline uint16_t crc_update(uint16_t crc, uint8_t byte)
{
    byte = (uint8_t)(byte ^ crc);
    byte = (uint8_t)(byte ^ (byte << 4));
    return (uint16_t)((((uint16_t)byte << 8) | (crc >> 8)) ^ (byte >> 4) ^ ((uint16_t)byte << 3));
}
#endif

#endif
