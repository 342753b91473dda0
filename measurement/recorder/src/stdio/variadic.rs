//! Functions with variable arguments. Their exported names jump to functions in C (`variadic.c`), which hand the
//! arguments on as a `va_list`: at both supported processors that is passed as an address.

use call_paths::Registers;
use recording::file_functions::number;

use super::layout::Look;
use super::reading::scan;
use super::writing::print;
use crate::posix::next::next;

/// Exports functions that jump to others, with the arguments and the stack of these.
macro_rules! jumps {
    ($($name:literal $to:ident;)*) => {
        $(const _: () = {
            unsafe extern "C" {
                fn $to();
            }

            #[unsafe(export_name = concat!("replay_io_", $name))]
            #[unsafe(naked)]
            unsafe extern "C" fn exported() {
                #[cfg(target_arch = "x86_64")]
                std::arch::naked_asm!("jmp {}", sym $to);
                #[cfg(target_arch = "aarch64")]
                std::arch::naked_asm!("b {}", sym $to);
            }
        };)*
    };
}

jumps! {
    "fprintf" replay_stdio_fprintf;
    "printf" replay_stdio_printf;
    "__fprintf_chk" replay_stdio_fprintf_chk;
    "__printf_chk" replay_stdio_printf_chk;
    "fscanf" replay_stdio_fscanf;
    "scanf" replay_stdio_scanf;
    "__isoc99_fscanf" replay_stdio_isoc99_fscanf;
    "__isoc99_scanf" replay_stdio_isoc99_scanf;
    "__isoc23_fscanf" replay_stdio_isoc23_fscanf;
    "__isoc23_scanf" replay_stdio_isoc23_scanf;
}

/// A function, and that which gets its arguments as a list.
type Pair = (u32, u32);

const PRINTING: [Pair; 4] = [
    (number("fprintf"), number("vfprintf")),
    (number("printf"), number("vfprintf")),
    (number("__fprintf_chk"), number("__vfprintf_chk")),
    (number("__printf_chk"), number("__vfprintf_chk")),
];
/// From here on functions check what they get.
const CHECKING: usize = 2;

const SCANNING: [Pair; 6] = [
    (number("fscanf"), number("vfscanf")),
    (number("scanf"), number("vfscanf")),
    (number("__isoc99_fscanf"), number("__isoc99_vfscanf")),
    (number("__isoc99_scanf"), number("__isoc99_vfscanf")),
    (number("__isoc23_fscanf"), number("__isoc23_vfscanf")),
    (number("__isoc23_scanf"), number("__isoc23_vfscanf")),
];

/// Makes a call that formats, for `variadic.c`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn replay_stdio_print(
    which: i32,
    stream: usize,
    strictness: usize,
    format: usize,
    list: usize,
) -> i32 {
    type Plain = unsafe extern "C-unwind" fn(usize, usize, usize) -> usize;
    type Checking = unsafe extern "C-unwind" fn(usize, usize, usize, usize) -> usize;
    let registers = Registers::here();
    let (function, real) = PRINTING[which as usize];
    let real = || {
        let address = next(real);
        // SAFETY: the address is that of the function of this name, with these parameters; the program's own call is
        // passed on.
        unsafe {
            match which as usize >= CHECKING {
                true => std::mem::transmute::<usize, Checking>(address)(stream, strictness, format, list),
                false => std::mem::transmute::<usize, Plain>(address)(stream, format, list),
            }
        }
    };
    print(function, registers, stream, real) as i32
}

/// Makes a call that reads by a format, for `variadic.c`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn replay_stdio_scan(which: i32, stream: usize, format: usize, list: usize) -> i32 {
    type Real = unsafe extern "C-unwind" fn(usize, usize, usize) -> usize;
    let registers = Registers::here();
    let (function, real) = SCANNING[which as usize];
    let real = || {
        // SAFETY: as above.
        unsafe { std::mem::transmute::<usize, Real>(next(real))(stream, format, list) }
    };
    scan::<true>(
        function,
        registers,
        (stream, u64::MAX),
        |_| real(),
        |_, before: &Look, after| before.taken(after),
    ) as i32
}
