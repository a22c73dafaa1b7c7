// What the files of the RP2040 port tell each other
#ifndef IGLOO_RP2040_BOARD_H
#define IGLOO_RP2040_BOARD_H

#include "chip.h"

static inline void pin_function(uint32_t pin, uint32_t function, uint32_t pad)
{
    REG(PAD(pin)) = pad;
    REG(IO_CTRL(pin)) = function;
}

void clock_start(void);
void timer_tick(void); // the interrupt of the timer's first alarm
void spi_start(void);
void uart_start(void);
void uart_step(void); // bytes from the ring into the transmitter's FIFO

#endif
