// The sensor igloo on an ATmega328P (Arduino Nano, Pro Mini and their like)
//
// Section numbers are those of Atmel's data sheet 8271H (ATmega48A/PA/88A/PA/168A/PA/328/P).
#include <avr/interrupt.h>
#include <avr/power.h>

#include "../core/igloo.h"
#include "../core/port.h"
#include "board.h"

const struct port_facts port_facts = {.f_cpu = F_CPU, .baud = BAUD};

int main(void)
{
    // The units we do not use stand still (10.10): less current, less noise on the sensor's supply.
    power_adc_disable();
    power_twi_disable();
    power_timer2_disable();
    clock_start();
    spi_start();
    uart_start();
    sei();
    igloo_start();
    for (;;) {
        port_wait();
        igloo_poll();
    }
}
