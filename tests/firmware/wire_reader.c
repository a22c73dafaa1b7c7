#include "wire_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Bit by bit, as the polynomial is written down.
uint16_t wire_crc(const uint8_t *bytes, size_t count)
{
    uint16_t crc = 0xFFFF;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? (uint16_t)(crc >> 1 ^ 0x8408) : crc >> 1;
    }
    return crc;
}

static void refuse(const char *why, size_t at)
{
    fprintf(stderr, "the frame that ends at byte %zu: %s\n", at, why);
    exit(1);
}

static uint32_t take(const uint8_t **from, int size)
{
    uint32_t value = 0;
    for (int i = 0; i < size; i++)
        value |= (uint32_t)*(*from)++ << 8 * i;
    return value;
}

static void expect_size(size_t is, size_t should, size_t at)
{
    if (is != should)
        refuse("has the wrong length for its type", at);
}

bool wire_next(const uint8_t *bytes, size_t count, size_t *at, struct wire_frame *frame)
{
    const uint8_t *delimiter = memchr(bytes + *at, 0, count - *at);
    if (!delimiter)
        return false;
    size_t end = (size_t)(delimiter - bytes), length = 0;
    uint8_t body[256];
    for (size_t code_at = *at; code_at < end;) {
        size_t next = code_at + bytes[code_at];
        if (next > end)
            refuse("a COBS code leads out of it", end);
        if (bytes[code_at] == 0xFF)
            refuse("a COBS code 0xFF, which the protocol excludes", end);
        for (size_t i = code_at + 1; i < next; i++)
            body[length++] = bytes[i];
        if (next < end)
            body[length++] = 0;
        code_at = next;
    }
    *at = end + 1;
    if (length < 5 || length > 111)
        refuse("is too short or too long", end);
    if (wire_crc(body, length - 2) != (body[length - 2] | body[length - 1] << 8))
        refuse("its CRC is wrong", end);

    const uint8_t *from = body;
    length -= 2;
    memset(frame, 0, sizeof *frame);
    frame->type = (uint8_t)take(&from, 1);
    frame->seq = (uint16_t)take(&from, 2);
    if (frame->type == 1) {
        expect_size(length, 3 + 18, end);
        frame->fw = (uint8_t)take(&from, 1);
        frame->devid = (uint8_t)take(&from, 1);
        frame->bw_rate = (uint8_t)take(&from, 1);
        frame->data_format = (uint8_t)take(&from, 1);
        frame->rate_hz = (uint16_t)take(&from, 2);
        frame->ug_per_lsb = (uint16_t)take(&from, 2);
        frame->f_cpu = take(&from, 4);
        frame->baud = take(&from, 4);
        frame->unit = (uint16_t)take(&from, 2);
    } else if (frame->type == 2) {
        frame->t_us = take(&from, 4);
        frame->index = take(&from, 4);
        frame->flags = (uint8_t)take(&from, 1);
        frame->n = (uint8_t)take(&from, 1);
        if (frame->n < 1 || frame->n > 16)
            refuse("has no or too many samples", end);
        expect_size(length, 3u + 10 + 6u * frame->n, end);
        for (int i = 0; i < frame->n; i++)
            for (int axis = 0; axis < 3; axis++)
                frame->samples[i][axis] = (int16_t)take(&from, 2);
    } else if (frame->type == 3) {
        expect_size(length, 3 + 15, end);
        frame->state = (uint8_t)take(&from, 1);
        frame->devid = (uint8_t)take(&from, 1);
        frame->t_us = take(&from, 4);
        frame->read = take(&from, 4);
        frame->overruns = (uint16_t)take(&from, 2);
        frame->tx_dropped = (uint16_t)take(&from, 2);
        frame->fifo_max = (uint8_t)take(&from, 1);
    } else {
        refuse("is of no known type", end);
    }
    return true;
}
