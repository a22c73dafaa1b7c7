// The unit's number in the EEPROM
//
// The number and its complement, so that an empty EEPROM (all ones) or a write that the power left half done reads
// as "unnamed". Not at address 0, which is the one that a dying supply hits first.
//
// Writing a byte takes 3.4 ms (8.6.3), in which the sensor delivers 11 samples: too many to wait for four of them.
// So a byte is begun when the one before is done, from port_wait(), and the sampling goes on.
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>

#include "../core/port.h"
#include "board.h"

#define ADDRESS 8
#define SIZE 4

static uint8_t stored[SIZE];
static uint8_t waiting; // bytes still to be written

uint16_t port_unit_load(void)
{
    uint16_t unit = eeprom_read_word((const uint16_t *)ADDRESS);
    uint16_t complement = eeprom_read_word((const uint16_t *)(ADDRESS + 2));
    return (uint16_t)~unit == complement ? unit : 0;
}

void port_unit_store(uint16_t unit)
{
    stored[0] = (uint8_t)unit;
    stored[1] = (uint8_t)(unit >> 8);
    stored[2] = (uint8_t)~stored[0];
    stored[3] = (uint8_t)~stored[1];
    waiting = SIZE;
}

void unit_step(void)
{
    if (waiting == 0 || !eeprom_is_ready())
        return;
    waiting--;
    EEAR = ADDRESS + waiting;
    EEDR = stored[waiting];
    cli(); // the two bits must be set within four cycles (8.6.3)
    EECR |= _BV(EEMPE);
    EECR |= _BV(EEPE);
    sei();
}
