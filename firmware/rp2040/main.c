// The sensor igloo on a Raspberry Pi Pico (RP2040), one core of two, at 48 MHz
//
// 48 MHz and not 125: it makes 250k, 500k and 1M baud and 4 MHz of SPI exactly, and is five times what is needed.
#include "../core/igloo.h"
#include "../core/port.h"
#include "board.h"

#define F_CPU 48000000u

const struct port_facts port_facts = {.f_cpu = F_CPU, .baud = BAUD};

int main(void)
{
    clock_start();
    spi_start();
    uart_start();
    igloo_start();
    for (;;) {
        port_wait();
        igloo_poll();
    }
}
