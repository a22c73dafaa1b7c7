// What a board must offer to be an igloo
//
// The core (this folder) knows the sensor, the frames and the commands, and nothing of the chip it runs on. A board
// is a folder beside it (avr/, later rp2040/) that defines the functions below and calls igloo_start() once and
// igloo_poll() after every port_wait(). The functions are few and coarse on purpose: one call a sensor access and
// not one a byte, because a call a byte would cost the small board a third of its SPI time.
//
// Interrupts: the core runs in one context only, the main loop. A board may use interrupts for its clock, its
// receiver and its transmitter; the only thing it then shares with the core is the transmit ring (ring.h), which
// is safe with one writer (the core) and one reader (the board's transmitter).
#ifndef IGLOO_PORT_H
#define IGLOO_PORT_H

#include <stdint.h>

// What HELLO tells of the board.
struct port_facts {
    uint32_t f_cpu; // Hz
    uint32_t baud;  // of the serial line
};

extern const struct port_facts port_facts;

// Microseconds since reset; wraps at 2^32 (71.6 minutes).
uint32_t port_now_us(void);

// Sleep until the next tick of a steady clock of 1 ms. The core polls the sensor once a tick: 3.2 samples arrive in
// it, so 16 samples are found at a level of 16 to 19 and 12 places of the sensor's FIFO (3.7 ms) stay in reserve.
// The tick must neither drift into bursts nor be missed for longer than that reserve.
void port_wait(void);

// One SPI transfer with the sensor selected: send `command`, then read `count` bytes or write one. SPI mode 3, most
// significant bit first, 2 to 5 MHz (ADXL345 data sheet rev. G, p. 14: slower is too slow for 3200 Hz).
void port_sensor_read(uint8_t command, uint8_t *into, uint8_t count);
void port_sensor_write(uint8_t command, uint8_t value);

// Return when at least 5 us have passed since the last port_sensor_read(): the sensor's FIFO needs them to move the
// next sample up (p. 21). A board whose code needs longer than that between two reads anyway has nothing to do here.
void port_sensor_pause(void);

// The next byte that came over the serial line, or one of the two below. After PORT_LINE_ERROR a byte may be missing.
#define PORT_NOTHING (-1)
#define PORT_LINE_ERROR (-2)
int16_t port_receive(void);

// The transmit ring has become longer: start the transmitter if it rests.
void port_transmit(void);

// Which sensor igloo this is, kept without power; 0 where nothing (or nothing whole) was stored. Storing may go on
// in the background; a board that must stop everything for it may lose samples, which then is reported as any loss.
uint16_t port_unit_load(void);
void port_unit_store(uint16_t unit);

#endif
