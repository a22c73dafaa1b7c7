// The sensor igloo: samples from the sensor to the line, and the few commands that come back
#ifndef IGLOO_IGLOO_H
#define IGLOO_IGLOO_H

#include <stdint.h>

#define IGLOO_FIRMWARE 1 // HELLO's fw: counted up with every change that a reader could see

// Call once, when the board is ready.
void igloo_start(void);

// Call after every port_wait().
void igloo_poll(void);

#endif
