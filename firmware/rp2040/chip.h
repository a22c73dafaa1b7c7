// The registers of the RP2040 that an igloo uses; section numbers are those of the RP2040 data sheet
#ifndef IGLOO_RP2040_CHIP_H
#define IGLOO_RP2040_CHIP_H

#include <stdint.h>

#define REG(address) (*(volatile uint32_t *)(address))

// Writing to these aliases sets or clears single bits in one access (2.1.2).
#define SET(address) REG((address) + 0x2000u)
#define CLEAR(address) REG((address) + 0x3000u)

// 2.14: what stands still after a reset
#define RESETS_RESET 0x4000C000u
#define RESETS_DONE 0x4000C008u
#define RESET_IO_BANK0 (1u << 5)
#define RESET_PADS_BANK0 (1u << 8)
#define RESET_PLL_USB (1u << 13)
#define RESET_SPI0 (1u << 16)
#define RESET_TIMER (1u << 21)
#define RESET_UART0 (1u << 22)

// 2.15, 2.16, 2.18: the crystal, the clocks, the PLL
#define XOSC_CTRL 0x40024000u
#define XOSC_STATUS 0x40024004u
#define XOSC_STARTUP 0x4002400Cu
#define CLK_REF_CTRL 0x40008030u
#define CLK_REF_SELECTED 0x40008038u
#define CLK_SYS_CTRL 0x4000803Cu
#define CLK_SYS_SELECTED 0x40008044u
#define CLK_PERI_CTRL 0x40008048u
#define PLL_USB_CS 0x4002C000u
#define PLL_USB_PWR 0x4002C004u
#define PLL_USB_FBDIV 0x4002C008u
#define PLL_USB_PRIM 0x4002C00Cu
#define WATCHDOG_TICK 0x4005802Cu

// 2.19: pins
#define IO_CTRL(pin) (0x40014004u + 8u * (pin))
#define PAD(pin) (0x4001C004u + 4u * (pin))
#define FUNCTION_SPI 1u
#define FUNCTION_UART 2u
#define FUNCTION_SIO 5u
#define PAD_PULL_UP (1u << 3)
#define PAD_PULL_DOWN (1u << 2)
#define PAD_INPUT (1u << 6)
#define SIO_OUT_SET 0xD0000014u
#define SIO_OUT_CLEAR 0xD0000018u
#define SIO_OE_SET 0xD0000024u

// 4.2: UART 0 (a PL011)
#define UART_DR 0x40034000u
#define UART_FR 0x40034018u
#define UART_IBRD 0x40034024u
#define UART_FBRD 0x40034028u
#define UART_LCR_H 0x4003402Cu
#define UART_CR 0x40034030u
#define UART_DR_ERRORS 0xF00u // framing, parity, break, overrun: of the byte beside them
#define UART_FR_RXFE (1u << 4)
#define UART_FR_TXFF (1u << 5)

// 4.4: SPI 0 (a PL022)
#define SPI_CR0 0x4003C000u
#define SPI_CR1 0x4003C004u
#define SPI_DR 0x4003C008u
#define SPI_SR 0x4003C00Cu
#define SPI_CPSR 0x4003C010u
#define SPI_SR_TNF (1u << 1)
#define SPI_SR_RNE (1u << 2)
#define SPI_SR_BSY (1u << 4)

// 4.6: the timer of microseconds
#define TIMER_ALARM0 0x40054010u
#define TIMER_RAWL 0x40054028u
#define TIMER_INTR 0x40054034u
#define TIMER_INTE 0x40054038u

// 2.4.8: the processor's own
#define NVIC_ISER 0xE000E100u
#define VTOR 0xE000ED08u

#endif
