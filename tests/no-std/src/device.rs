//! The first serial port of QEMU's machine `mps2-an386`, and what a Cortex-M needs to start.

/// The register of the processor that turns its floating-point unit on.
const COPROCESSORS: *mut u32 = 0xE000_ED88 as *mut u32;

/// The port's registers: data, state (bit 0: cannot write, bit 1: can read) and control.
const DATA: *mut u32 = 0x4000_4000 as *mut u32;
const STATE: *const u32 = 0x4000_4004 as *const u32;
const CONTROL: *mut u32 = 0x4000_4008 as *mut u32;

/// The first words of the flash: the initial stack pointer and the reset handler.
#[repr(C)]
pub(crate) struct Vectors {
    stack: usize,
    reset: unsafe extern "C" fn() -> !,
}

#[unsafe(link_section = ".vectors")]
#[used]
static VECTORS: Vectors = Vectors { stack: 0x2002_0000, reset };

/// Starts the program. Initialized statics would have to be copied here; `device.ld` refuses them.
#[unsafe(no_mangle)]
unsafe extern "C" fn reset() -> ! {
    // SAFETY: the registers exist on this machine.
    unsafe {
        COPROCESSORS.write_volatile(0xF << 20);
        CONTROL.write_volatile(3);
    }
    crate::main();
    loop {
        core::hint::spin_loop();
    }
}

/// Reads the next byte; waits for it.
pub(crate) fn read(bytes: &mut [u8]) -> usize {
    let Some(first) = bytes.first_mut() else { return 0 };
    // SAFETY: the registers exist on this machine.
    unsafe {
        while STATE.read_volatile() & 2 == 0 {}
        *first = DATA.read_volatile() as u8;
    }
    1
}

/// Writes all bytes.
pub(crate) fn write(bytes: &[u8]) {
    for byte in bytes {
        // SAFETY: the registers exist on this machine.
        unsafe {
            while STATE.read_volatile() & 1 != 0 {}
            DATA.write_volatile(u32::from(*byte));
        }
    }
}
