// Which pin of the Raspberry Pi Pico goes to which pad of the ADXL345 module
//
// SPI 0 and UART 0 at their usual places (RP2040 data sheet, 1.4.3, function select). README.md shows these lines as a
// table, and a test compares the two.
#ifndef IGLOO_RP2040_PINS_H
#define IGLOO_RP2040_PINS_H

#define PIN_TX 0    // Pico pin 1, the line's transmitter
#define PIN_RX 1    // Pico pin 2, the line's receiver
#define PIN_MISO 16 // Pico pin 21, module SDO
#define PIN_CS 17   // Pico pin 22, module CS
#define PIN_SCK 18  // Pico pin 24, module SCL
#define PIN_MOSI 19 // Pico pin 25, module SDA (SDI)

#endif
