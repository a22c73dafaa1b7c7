// The bench: the real image in simavr, a simulated ADXL345 on its SPI, its serial line on a pseudo-terminal
//
//   bench [--mhz 16|8] [--fast] [--hold] [--link PATH] [--tee FILE] [--noise MG] [--rate ERROR] [--seed N] IMAGE.elf
//
// Paced to real time, or with --fast as fast as it goes. It prints `port PATH` and `ready`, obeys commands on standard
// input (control.c), and ends with a line of statistics. Everything that the AVR and the sensor do depends on
// simulated time alone: with --hold and commands given `at` a time, two runs send the same bytes.
#define _GNU_SOURCE
#include <getopt.h>
#include <signal.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_interrupts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"

#define SLICE_MS 1 // between two looks at the line and the commands
#define PAINT 0xA5 // of memory that nobody has written yet
#define RAM_START 0x100

struct bench bench;

static bool woken; // from sleep, by the interrupt that is being entered
static double began;
static uint64_t began_at_cycle;

static double monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void log_to_stderr(avr_t *avr, const int level, const char *format, va_list arguments)
{
    if (avr && avr->log < level)
        return;
    vfprintf(stderr, format, arguments);
}

// Called while the AVR sleeps, before simavr moves the cycle counter on by `cycles` + 1.
static void sleep_counted(avr_t *avr, avr_cycle_count_t cycles)
{
    (void)avr;
    bench.asleep += cycles + 1;
    woken = true;
}

// simavr enters a handler in no time; the chip takes four cycles, and four more out of sleep (8271H, 7.7.1).
static void interrupt_entered(struct avr_irq_t *irq, uint32_t vector, void *param)
{
    (void)irq, (void)param;
    if (!vector)
        return;
    bench.interrupts++;
    bench.avr->cycle += woken ? 8 : 4;
    woken = false;
}

void bench_reset(void)
{
    avr_reset(bench.avr);
    bench.avr->run_cycle_limit = 1000; // let simavr run between its timers, not stop at every instruction
    spi_reset();
}

void bench_go(void)
{
    bench.held = false;
    began = monotonic();
    began_at_cycle = bench.avr->cycle;
}

/****************************************************************
 * Statistics
 ****************************************************************/

// The longest run of paint lies between the variables and the deepest stack.
static unsigned untouched_ram(void)
{
    unsigned longest = 0, run = 0;
    for (unsigned at = RAM_START; at <= bench.avr->ramend; at++) {
        run = bench.avr->data[at] == PAINT ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

void bench_print_statistics(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    double wall = bench.held ? 0 : monotonic() - began;
    double cycles = (double)(bench.avr->cycle - began_at_cycle);
    adxl345_model_advance(&bench.sensor, bench_now());
    printf("stats {\"mhz\": %u, \"simulated_s\": %.6f, \"wall_s\": %.3f, \"cpu_s\": %.3f, \"late_ms\": %.1f, ",
           bench.avr->frequency / 1000000, cycles / (double)bench.avr->frequency, wall, cpu,
           (double)bench.late_us_max / 1000.0);
    printf("\"cycles\": %.0f, \"asleep\": %llu, \"busy_percent\": %.2f, \"interrupts\": %llu, \"ram_free\": %u, ",
           cycles, (unsigned long long)bench.asleep,
           cycles > 0 ? 100.0 * (cycles - (double)bench.asleep) / cycles : 0.0, (unsigned long long)bench.interrupts,
           untouched_ram());
    printf("\"samples_taken\": %llu, \"samples_overwritten\": %llu, \"samples_played\": %llu, \"fifo_level\": %u, ",
           (unsigned long long)bench.sensor.taken, (unsigned long long)bench.sensor.overwritten,
           (unsigned long long)world_played, bench.sensor.level);
    printf("\"early_reads\": %llu, \"spi_bytes\": %llu, \"spi_collisions\": %llu, \"spi_refused\": %llu, ",
           (unsigned long long)bench.sensor.early_reads, (unsigned long long)spi_counts.bytes,
           (unsigned long long)spi_counts.collisions, (unsigned long long)spi_counts.refused);
    printf("\"uart_bytes\": %llu, \"uart_unread\": %llu, \"uart_received\": %llu, \"pty_stalls\": %llu, "
           "\"stalled_s\": %.3f}\n",
           (unsigned long long)line_counts.sent, (unsigned long long)line_counts.unread,
           (unsigned long long)line_counts.received, (unsigned long long)line_counts.stalls, line_counts.stalled_s);
    fflush(stdout);
}

/****************************************************************
 * Running
 ****************************************************************/

static void hold_to_real_time(void)
{
    double ahead = (double)(bench.avr->cycle - began_at_cycle) / (double)bench.avr->frequency - (monotonic() - began);
    if (ahead < 0) {
        uint64_t late = (uint64_t)(-ahead * 1e6);
        bench.late_us_max = late > bench.late_us_max ? late : bench.late_us_max;
    } else if (ahead > 0.001) {
        struct timespec nap = {.tv_sec = (time_t)ahead, .tv_nsec = (long)((ahead - (double)(time_t)ahead) * 1e9)};
        nanosleep(&nap, NULL);
    }
}

static void run(void)
{
    avr_t *avr = bench.avr;
    uint64_t slice = avr->frequency / 1000 * SLICE_MS;
    while (!bench.quit) {
        control_service(bench.held ? 1000 : 0);
        if (bench.held)
            continue;
        uint64_t until = avr->cycle + slice;
        while (avr->cycle < until) {
            int state = avr_run(avr);
            if (state == cpu_Done || state == cpu_Crashed) {
                fprintf(stderr, "bench: the AVR %s at 0x%04x\n", state == cpu_Done ? "sleeps for ever" : "crashed",
                        avr->pc);
                bench_print_statistics();
                exit(1);
            }
        }
        line_service();
        if (bench.paced)
            hold_to_real_time();
    }
}

static void stop_running(int signal_number)
{
    (void)signal_number;
    bench.quit = true;
}

static void load(const char *path, unsigned mhz)
{
    elf_firmware_t image = {0};
    if (elf_read_firmware(path, &image) < 0 || !image.flash) {
        fprintf(stderr, "bench: %s is no AVR image\n", path);
        exit(2);
    }
    bench.avr = avr_make_mcu_by_name("atmega328p");
    avr_init(bench.avr);
    avr_load_firmware(bench.avr, &image);
    bench.avr->frequency = mhz * 1000000;
    bench.avr->sleep = sleep_counted;
    bench.ps_per_cycle = PS_PER_S / bench.avr->frequency;
    memset(bench.avr->data + RAM_START, PAINT, bench.avr->ramend + 1u - RAM_START);
    avr_irq_register_notify(avr_get_interrupt_irq(bench.avr, AVR_INT_ANY) + AVR_INT_IRQ_RUNNING, interrupt_entered,
                            NULL);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"mhz", required_argument, NULL, 'm'},   {"fast", no_argument, NULL, 'f'},
        {"hold", no_argument, NULL, 'h'},        {"link", required_argument, NULL, 'l'},
        {"tee", required_argument, NULL, 't'},   {"noise", required_argument, NULL, 'n'},
        {"rate", required_argument, NULL, 'r'},  {"seed", required_argument, NULL, 's'},
        {NULL, 0, NULL, 0},
    };
    const char *link = NULL, *tee = NULL;
    unsigned mhz = 16;
    double noise_mg = 12, rate_error = 0;
    unsigned long seed = 1;
    bench.paced = true;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'm': mhz = (unsigned)strtoul(optarg, NULL, 10); break;
        case 'f': bench.paced = false; break;
        case 'h': bench.held = true; break;
        case 'l': link = optarg; break;
        case 't': tee = optarg; break;
        case 'n': noise_mg = strtod(optarg, NULL); break;
        case 'r': rate_error = strtod(optarg, NULL); break;
        case 's': seed = strtoul(optarg, NULL, 10); break;
        default: return 2;
        }
    }
    if (optind != argc - 1 || (mhz != 16 && mhz != 8)) {
        fprintf(stderr, "bench: one image and a clock of 16 or 8 MHz are wanted\n");
        return 2;
    }
    signal(SIGINT, stop_running);
    signal(SIGTERM, stop_running);
    signal(SIGPIPE, SIG_IGN);
    avr_global_logger_set(log_to_stderr);
    load(argv[optind], mhz);
    adxl345_model_init(&bench.sensor, world_feel, NULL);
    bench.sensor.rate_error = rate_error;
    world_start(noise_mg / 1000, seed);
    line_open(link, tee);
    line_attach();
    spi_attach();
    bench_reset();
    if (!bench.held)
        bench_go();
    printf("ready\n");
    fflush(stdout);
    run();
    bench_print_statistics();
    line_close();
    return 0;
}
