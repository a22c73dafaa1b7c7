// The second stage of booting: the first 256 bytes of flash, which the boot ROM copies to RAM, checks by a CRC and runs
//
// It only switches the flash on to be read as memory, with the plain read command 03h that every serial flash knows, one
// data line, a quarter of the system clock (RP2040 data sheet, 2.8.1.3.1 and 4.10). That is slow, and does not matter:
// start.c copies the program to RAM. The CRC is put behind it when the image is packed.
    .syntax unified
    .cpu cortex-m0plus
    .thumb
    .section .boot2, "ax"

    ldr r3, =0x18000000      // the SSI
    movs r1, #0
    str r1, [r3, #0x08]      // SSIENR: off while it is set up
    movs r1, #4
    str r1, [r3, #0x14]      // BAUDR
    ldr r1, =0x001F0300      // CTRLR0: 32 bits a data frame, "EEPROM read"
    str r1, [r3, #0x00]
    movs r1, #0
    str r1, [r3, #0x04]      // CTRLR1: one frame
    ldr r1, =0x03000218      // SPI_CTRLR0: command 03h of 8 bits, address of 24, no wait
    ldr r0, =0x180000F4
    str r1, [r0]
    movs r1, #1
    str r1, [r3, #0x08]      // on
    ldr r0, =0x10000100      // the vectors in flash
    ldr r1, [r0]
    msr msp, r1
    ldr r1, [r0, #4]
    bx r1
    .ltorg
