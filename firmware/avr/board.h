// What the files of the AVR port tell each other
#ifndef IGLOO_AVR_BOARD_H
#define IGLOO_AVR_BOARD_H

void clock_start(void);
void spi_start(void);
void uart_start(void);
void unit_step(void); // a byte more into the EEPROM, if one waits and the EEPROM is ready

#endif
