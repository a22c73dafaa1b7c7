// The unit's number in the last sector of the flash
//
// The number and its complement, so that an erased sector, or a write that the power left half done, reads as "unnamed".
// The boot ROM's functions erase and write (2.8.3.1.3); the program runs in RAM, so nothing reads the flash meanwhile. It
// takes some 50 ms, in which samples are lost: they are reported as any others.
#include "../core/port.h"
#include "board.h"

#define FLASH_SIZE (2u << 20) // of a Raspberry Pi Pico; a bigger one keeps the number in its middle
#define SECTOR 4096u
#define PAGE 256u
#define PLACE (FLASH_SIZE - SECTOR)

typedef void (*plain)(void);
typedef void (*erase)(uint32_t at, uint32_t count, uint32_t block, uint8_t command);
typedef void (*program)(uint32_t at, const uint8_t *data, uint32_t count);
typedef void *(*lookup)(const uint16_t *table, uint32_t code);

#define CODE(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)

uint16_t port_unit_load(void)
{
    uint32_t word = REG(0x10000000u + PLACE);
    uint16_t unit = (uint16_t)word;
    return (uint16_t)~unit == (uint16_t)(word >> 16) ? unit : 0;
}

static void *rom(uint32_t code)
{
    // Addresses of 16 bits near the ROM's begin (2.8.3). Not constants, or the compiler warns of reading address 0x14.
    volatile uint16_t *table = (volatile uint16_t *)0x14u;
    __asm__("" : "+r"(table));
    lookup find = (lookup)(uintptr_t)table[2];
    return find((const uint16_t *)(uintptr_t)table[0], code);
}

void port_unit_store(uint16_t unit)
{
    volatile uint8_t *magic = (volatile uint8_t *)0x10u;
    __asm__("" : "+r"(magic));
    if (magic[0] != 'M' || magic[1] != 'u' || magic[2] != 1)
        return; // no boot ROM that we know
    static uint8_t page[PAGE];
    for (uint32_t i = 0; i < PAGE; i++)
        page[i] = 0xFF;
    page[0] = (uint8_t)unit;
    page[1] = (uint8_t)(unit >> 8);
    page[2] = (uint8_t)~page[0];
    page[3] = (uint8_t)~page[1];
    plain connect = (plain)rom(CODE('I', 'F')), leave = (plain)rom(CODE('E', 'X'));
    plain flush = (plain)rom(CODE('F', 'C')), enter = (plain)rom(CODE('C', 'X'));
    erase wipe = (erase)rom(CODE('R', 'E'));
    program write = (program)rom(CODE('R', 'P'));
    __asm__ volatile("cpsid i" ::: "memory");
    connect();
    leave();
    wipe(PLACE, SECTOR, 1u << 16, 0xD8);
    write(PLACE, page, PAGE);
    flush();
    enter();
    __asm__ volatile("cpsie i" ::: "memory");
}
