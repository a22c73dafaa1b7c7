// Which pin of the ATmega328P goes to which pad of the ADXL345 module
//
// The SPI unit has fixed pins; chip select uses the unit's own SS pin, which must be an output anyway: an input that
// is pulled low there would turn the master into a slave in the middle of a transfer (ATmega328P data sheet
// 8271H, 19.3.2). README.md shows these lines as a table, and a test compares the two.
#ifndef IGLOO_AVR_PINS_H
#define IGLOO_AVR_PINS_H

#include <avr/io.h>

#define PIN_CS PB2   // Arduino D10, module CS
#define PIN_MOSI PB3 // Arduino D11, module SDA (SDI)
#define PIN_MISO PB4 // Arduino D12, module SDO
#define PIN_SCK PB5  // Arduino D13, module SCL
#define PIN_RX PD0   // Arduino D0, the line's receiver
#define PIN_TX PD1   // Arduino D1, the line's transmitter

#endif
