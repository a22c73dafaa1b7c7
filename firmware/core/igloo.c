// The sensor igloo: samples from the sensor to the line, and the few commands that come back
//
// Polling, not the sensor's watermark interrupt: once a millisecond we ask the FIFO for its level and read 16
// samples when there are 16. It costs 2 % of a 16 MHz AVR (in simavr), and saves a wire (the one that is forgotten, or breaks),
// a pin that differs from board to board, and the case of an edge that was missed and never comes again. The time
// stamps are up to a millisecond late by it, which the reader's fit over seconds does not notice.
//
// Nothing is lost silently. The FIFO holds 32 samples. Where the line has no room for a frame the samples wait in the
// FIFO; before they would overflow there a frame is dropped and counted, because a known loss (its samples are
// counted by `index`, its number by `seq`) is better than an unknown one. A FIFO found full may have overflowed: the
// next frame says so. The sensor's own overrun bit is cleared by every read and so misses what is lost while we
// drain (p. 20 of its data sheet), which is why the level is used.
#include "igloo.h"

#include <stdbool.h>
#include <string.h>

#include "adxl345.h"
#include "frame.h"
#include "port.h"

// The line's protocol, version 1.
#define SAMPLES 16 // a DATA frame; the most it can carry, and so the least overhead (17 bytes a frame)
#define DATA_HEADER 10
#define DATA_PAYLOAD (DATA_HEADER + SAMPLES * ADXL345_SAMPLE_SIZE)
#define HELLO_PAYLOAD 18
#define STATUS_PAYLOAD 15
#define FLAG_OVERFLOW 1 // the FIFO may have overflowed before these samples
#define FLAG_DROPPED 2  // frames were dropped for a full transmit buffer
#define FLAG_SET_UP 4   // the sensor was set up again

enum state { OK = 0, NO_SENSOR = 1, NOT_CONFIGURED = 2, SENSOR_LOST = 3 };

#define SECOND_US 1000000UL
#define BOOT_US 5000UL     // the sensor needs 1.4 ms from its supply to its first answer (p. 12), with bad contacts more
#define RETRY_US 100000UL  // between two tries to set up a sensor that did not answer
#define CHECK_US 250000UL  // between two looks at the configuration
#define SILENCE_US 20000UL // 16 samples take 5 ms; a sensor that gives none for four times as long has stopped
#define COMMAND_US 100000UL // the bytes of a command follow each other; an old half of one is forgotten
#define PATIENCE 28 // a FIFO level below which samples may wait for the line until the next poll

static struct {
    enum state state;
    bool was_ok; // since reset: tells a lost sensor from one that never was there
    struct adxl345_facts sensor;
    uint32_t samples; // read from the FIFO since reset; `index` of the next
    uint16_t overruns;
    uint16_t tx_dropped;
    uint8_t fifo_max; // highest level since the last STATUS
    uint8_t flags;    // for the next DATA frame
    bool owe_hello;
    bool owe_status;
    bool overdue; // what is owed is the regular report, not an answer
    uint16_t unit;
    uint32_t second_at;  // the last regular HELLO and STATUS
    uint32_t set_up_at;  // the last try
    uint32_t checked_at; // the last look at the configuration
    uint32_t frame_at;   // the last 16 samples
} self;

/****************************************************************
 * The sensor
 ****************************************************************/

static void set_up(uint32_t now)
{
    enum adxl345_found found = adxl345_set_up(&self.sensor);
    self.set_up_at = now;
    self.checked_at = now;
    self.frame_at = now;
    if (found == ADXL345_OK) {
        self.state = OK;
        if (self.was_ok)
            self.flags |= FLAG_SET_UP;
        self.was_ok = true;
    } else if (found == ADXL345_UNWILLING) {
        self.state = NOT_CONFIGURED;
    } else {
        self.state = self.was_ok ? SENSOR_LOST : NO_SENSOR;
    }
}

static void note_level(uint8_t level)
{
    if (level > self.fifo_max)
        self.fifo_max = level;
    if (level >= ADXL345_FIFO_SIZE)
        self.overruns++;
}

// Read 16 samples into a frame. The device id is asked after the last of them: if the sensor fell off in between,
// what we hold may be the pull-up resistor's opinion, and the frame is not published; nor is the level believed.
static bool send_samples(uint8_t level)
{
    uint8_t xyz[ADXL345_SAMPLE_SIZE];
    uint8_t full = level >= ADXL345_FIFO_SIZE ? FLAG_OVERFLOW : 0;
    frame_open(FRAME_DATA);
    frame_put_u32(port_now_us());
    frame_put_u32(self.samples);
    frame_put_u8(self.flags | full);
    frame_put_u8(SAMPLES);
    for (uint8_t i = 0; i < SAMPLES; i++) {
        adxl345_sample(xyz);
        frame_put(xyz, sizeof xyz);
    }
    if (adxl345_devid() != ADXL345_DEVID)
        return false;
    frame_close();
    note_level(level);
    self.samples += SAMPLES;
    self.flags = 0;
    return true;
}

static void drop_samples(uint8_t level)
{
    uint8_t xyz[ADXL345_SAMPLE_SIZE];
    for (uint8_t i = 0; i < SAMPLES; i++)
        adxl345_sample(xyz);
    frame_skip();
    note_level(level);
    self.samples += SAMPLES;
    self.tx_dropped++;
    self.flags |= FLAG_DROPPED;
    if (level >= ADXL345_FIFO_SIZE)
        self.flags |= FLAG_OVERFLOW;
}

static void stream(uint32_t now)
{
    for (;;) {
        uint8_t level = adxl345_level();
        if (level == ADXL345_NO_LEVEL) {
            set_up(now);
            return;
        }
        if (level < SAMPLES)
            break;
        if (frame_fits(DATA_PAYLOAD, 0)) {
            if (!send_samples(level)) {
                set_up(now);
                return;
            }
        } else if (level >= PATIENCE) {
            drop_samples(level);
        } else {
            break;
        }
        self.frame_at = now;
    }
    if ((uint32_t)(now - self.frame_at) >= SILENCE_US) {
        set_up(now);
    } else if ((uint32_t)(now - self.checked_at) >= CHECK_US) {
        self.checked_at = now;
        if (adxl345_check(&self.sensor) != ADXL345_OK)
            set_up(now);
    }
}

/****************************************************************
 * Commands
 ****************************************************************/

// Bytes that are no command are ignored: a modem manager that tries its AT words on us, or a terminal with the wrong
// baud rate, does no harm. Only `u` is dangerous, as it changes what is kept: its two bytes must follow at once, so
// that a stray `u` does not eat the `h` of a reader that comes an hour later and make a unit of it.
static struct {
    uint8_t missing; // bytes of `u` still to come
    uint8_t low;
    uint32_t at; // the last byte
} command;

static void obey(uint8_t byte, uint32_t now)
{
    if (command.missing == 2) {
        command.low = byte;
        command.missing = 1;
        return;
    }
    if (command.missing == 1) {
        command.missing = 0;
        self.unit = (uint16_t)(command.low | (uint16_t)byte << 8);
        port_unit_store(self.unit);
        return;
    }
    if (byte == 'h') {
        self.owe_hello = true;
        self.owe_status = true;
    } else if (byte == 'r') {
        set_up(now);
    } else if (byte == 'u') {
        command.missing = 2;
    }
}

static void listen(uint32_t now)
{
    int16_t byte;
    while ((byte = port_receive()) != PORT_NOTHING) {
        if ((uint32_t)(now - command.at) >= COMMAND_US)
            command.missing = 0;
        command.at = now;
        if (byte == PORT_LINE_ERROR)
            command.missing = 0;
        else
            obey((uint8_t)byte, now);
    }
}

/****************************************************************
 * Reports
 ****************************************************************/

static void send_hello(void)
{
    frame_open(FRAME_HELLO);
    frame_put_u8(IGLOO_FIRMWARE);
    frame_put_u8(self.sensor.devid);
    frame_put_u8(self.sensor.bw_rate);
    frame_put_u8(self.sensor.data_format);
    frame_put_u16(ADXL345_RATE_HZ);
    frame_put_u16(ADXL345_UG_PER_LSB);
    frame_put_u32(port_facts.f_cpu);
    frame_put_u32(port_facts.baud);
    frame_put_u16(self.unit);
    frame_close();
}

static void send_status(uint32_t now)
{
    frame_open(FRAME_STATUS);
    frame_put_u8((uint8_t)self.state);
    frame_put_u8(self.sensor.devid);
    frame_put_u32(now);
    frame_put_u32(self.samples);
    frame_put_u16(self.overruns);
    frame_put_u16(self.tx_dropped);
    frame_put_u8(self.fifo_max);
    frame_close();
    self.fifo_max = 0;
}

// An answer waits until there is room for it and a DATA frame besides: however often somebody asks, samples go first.
// The regular report takes any room there is: on a line too slow for the samples it is what tells the reader so.
static void report(uint32_t now)
{
    if ((uint32_t)(now - self.second_at) >= SECOND_US) {
        self.second_at += SECOND_US;
        self.owe_hello = true;
        self.owe_status = true;
        self.overdue = true;
    }
    uint8_t reserve = self.overdue ? 0 : DATA_PAYLOAD + FRAME_OVERHEAD;
    if (self.owe_hello && frame_fits(HELLO_PAYLOAD, reserve)) {
        self.owe_hello = false;
        send_hello();
    }
    if (self.owe_status && frame_fits(STATUS_PAYLOAD, reserve)) {
        self.owe_status = false;
        self.overdue = false;
        send_status(now);
    }
}

void igloo_start(void)
{
    uint32_t began = port_now_us();
    memset(&self, 0, sizeof self);
    memset(&command, 0, sizeof command);
    frame_reset();
    self.unit = port_unit_load();
    while ((uint32_t)(port_now_us() - began) < BOOT_US)
        port_wait();
    uint32_t now = port_now_us();
    self.second_at = now;
    self.owe_hello = true;
    self.owe_status = true;
    set_up(now);
}

void igloo_poll(void)
{
    uint32_t now = port_now_us();
    listen(now);
    if (self.state == OK)
        stream(now);
    else if ((uint32_t)(now - self.set_up_at) >= RETRY_US)
        set_up(now);
    report(now);
}
