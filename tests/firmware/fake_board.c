#include "fake_board.h"

#include <string.h>

#include "igloo.h"
#include "port.h"
#include "ring.h"

struct fake_board board;

const struct port_facts port_facts = {.f_cpu = 16000000, .baud = 500000};

uint64_t board_random(void)
{
    board.random ^= board.random << 13;
    board.random ^= board.random >> 7;
    board.random ^= board.random << 17;
    return board.random;
}

void board_sample(uint64_t n, int16_t xyz[3])
{
    xyz[0] = (int16_t)(((int32_t)(n % 4096) - 2048) * 2);
    xyz[1] = (int16_t)(((int32_t)(n / 4096 % 4096) - 2048) * 2);
    xyz[2] = (int16_t)(((int32_t)(n * 7 % 4096) - 2048) * 2);
}

static void feel(void *param, double g[3])
{
    (void)param;
    int16_t xyz[3];
    board_sample(board.sensor.taken, xyz);
    for (int axis = 0; axis < 3; axis++)
        g[axis] = xyz[axis] / 256.0;
}

void board_start(void)
{
    memset(&board, 0, sizeof board);
    adxl345_model_init(&board.sensor, feel, NULL);
    board.bytes_per_ms = 50;
    board.random = 88172645463325252ULL;
}

void board_run(uint32_t ms)
{
    uint64_t until = board.us + (uint64_t)ms * 1000;
    while (board.us < until) {
        port_wait();
        igloo_poll();
    }
}

void board_send(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        board.incoming[board.incoming_to++] = (uint8_t)bytes[i];
}

static picoseconds now(void)
{
    return board.us * PS_PER_US;
}

/****************************************************************
 * The port
 ****************************************************************/

uint32_t port_now_us(void)
{
    return (uint32_t)board.us + board.clock_offset;
}

static void drain(uint32_t ms)
{
    for (uint64_t left = (uint64_t)ms * board.bytes_per_ms; left && ring_tail != ring_head; left--)
        board.wire[board.wired++] = ring_bytes[ring_tail++];
}

void port_wait(void)
{
    uint32_t ms = 1 + board.stall_ms;
    board.stall_ms = 0;
    board.us = (board.us / 1000 + ms) * 1000;
    drain(ms);
}

static void begin_transfer(void)
{
    board.transfers++;
    if (board.cut_at && board.transfers >= board.cut_at)
        adxl345_model_power(&board.sensor, false);
    adxl345_model_select(&board.sensor, now(), true);
}

static uint8_t exchange(uint8_t byte)
{
    uint8_t answer = adxl345_model_exchange(&board.sensor, now(), byte);
    board.us += 2;
    return board.garbage ? (uint8_t)board_random() : answer;
}

void port_sensor_read(uint8_t command, uint8_t *into, uint8_t count)
{
    begin_transfer();
    exchange(command);
    while (count--)
        *into++ = exchange(0);
    adxl345_model_select(&board.sensor, now(), false);
}

void port_sensor_write(uint8_t command, uint8_t value)
{
    begin_transfer();
    exchange(command);
    exchange(value);
    adxl345_model_select(&board.sensor, now(), false);
}

void port_sensor_pause(void)
{
    board.us += 5;
}

int16_t port_receive(void)
{
    if (board.incoming_from == board.incoming_to)
        return PORT_NOTHING;
    return board.incoming[board.incoming_from++];
}

void port_transmit(void)
{
}

uint16_t port_unit_load(void)
{
    return board.unit;
}

void port_unit_store(uint16_t unit)
{
    board.unit = unit;
    board.unit_writes++;
}
