/* Lets a process see an AMD processor on an Intel one, at full speed.

   Libraries choose their code by what the instruction CPUID answers. Where processor and kernel can make it fault (Linux,
   "cpuid_fault" in /proc/cpuinfo), this library catches it and answers in AMD's name: vendor, family, caches, and the
   instruction sets that the AMD processor would have. Everything else runs as it is, so results are those of code that
   an AMD processor would run, for every instruction that both define alike.

   cc -O1 -shared -fPIC benchmarks/cpuid.c -o cpuid.so
   CPUID=zen2 LD_PRELOAD=$PWD/cpuid.so python …      (AVX2; CPUID=zen4: with AVX-512) */
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ARCH_SET_CPUID 0x1012
#define BIT(i) (1u << (i))

static int avx512;
static struct sigaction others;
/* Leaf 8000001D of an EPYC of the second generation: its caches. */
static const unsigned caches[4][4] = {{0x121, 0x01c0003f, 0x3f, 1},
                                      {0x122, 0x01c0003f, 0x3f, 1},
                                      {0x43, 0x01c0003f, 0x3ff, 0},
                                      {0x163, 0x03c0003f, 0x3fff, 6}};
static const char name[48] = "AMD EPYC Processor";

static void faulting(int on) { syscall(SYS_arch_prctl, ARCH_SET_CPUID, !on); }

static void answer(unsigned leaf, unsigned sub, unsigned *r) {
    faulting(0);
    __cpuid_count(leaf, sub, r[0], r[1], r[2], r[3]);
    faulting(1);
    if (leaf == 0 || leaf == 0x80000000) { /* AuthenticAMD */
        r[0] = leaf ? 0x8000001e : 0xd, r[1] = 0x68747541, r[2] = 0x444d4163, r[3] = 0x69746e65;
    } else if (leaf == 1) { /* family and model */
        r[0] = avx512 ? 0x00a10f11 : 0x00830f10, r[2] &= ~BIT(2);
    } else if (leaf == 7) { /* none of AMX, AVX-512 only where asked for */
        unsigned first = BIT(16) | BIT(17) | BIT(21) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31);
        unsigned second = BIT(1) | BIT(6) | BIT(8) | BIT(9) | BIT(10) | BIT(11) | BIT(12) | BIT(14);
        r[1] &= ~(BIT(4) | BIT(11) | (avx512 ? 0 : first));
        r[2] &= ~(avx512 ? 0 : second);
        r[3] &= ~(BIT(2) | BIT(3) | BIT(8) | BIT(22) | BIT(23) | BIT(24) | BIT(25));
        r[0] = sub ? (avx512 ? r[0] & BIT(5) : 0) : avx512;
        if (sub) r[1] = r[2] = r[3] = 0;
    } else if (leaf == 0xd && !sub) { /* the state that goes with them */
        r[0] &= avx512 ? 0xe7 : 7, r[1] = r[2] = avx512 ? 0xa80 : 0x340;
    } else if (leaf == 2 || leaf == 4 || (leaf >= 0x14 && leaf <= 0x30) || leaf == 0x8000001e) {
        memset(r, 0, 4 * sizeof *r); /* Intel's alone, or the topology, which nothing here needs */
    } else if (leaf == 0x8000001d) {
        if (sub < 4) memcpy(r, caches[sub], sizeof caches[sub]);
        else memset(r, 0, 4 * sizeof *r);
    } else if (leaf == 0x80000005) {
        r[0] = r[1] = 0xff48ff40, r[2] = r[3] = 0x20080140;
    } else if (leaf == 0x80000006) {
        r[0] = 0, r[1] = 0x42004200, r[2] = 0x02008140, r[3] = 0x00808140;
    } else if (leaf >= 0x80000002 && leaf <= 0x80000004) {
        memcpy(r, name + 16 * (leaf - 0x80000002), 16);
    }
}

static void caught(int signal_, siginfo_t *info, void *context) {
    greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *code = (const unsigned char *)g[REG_RIP];
    if (code[0] == 0x0f && code[1] == 0xa2) { /* CPUID */
        unsigned r[4];
        answer(g[REG_RAX], g[REG_RCX], r);
        g[REG_RAX] = r[0], g[REG_RBX] = r[1], g[REG_RCX] = r[2], g[REG_RDX] = r[3];
        g[REG_RIP] += 2;
    } else if (others.sa_flags & SA_SIGINFO && others.sa_sigaction) {
        others.sa_sigaction(signal_, info, context);
    } else {
        signal(SIGSEGV, SIG_DFL);
    }
}

__attribute__((constructor)) static void begin(void) {
    const char *which = getenv("CPUID");
    struct sigaction own = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    if (!which) return;
    avx512 = !strcmp(which, "zen4");
    sigaction(SIGSEGV, &own, &others);
    if (syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0)) {
        perror("CPUID cannot be made to fault on this machine");
        _exit(1);
    }
}
