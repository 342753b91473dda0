//! A counter of the processor as a program reads it itself: the kernel tells in a page where it is (`perf_event_open(2)`, "MMAP
//! layout").

use std::sync::atomic::{Ordering, compiler_fence};

use perf_event_open_sys::bindings::perf_event_mmap_page;

/// The capability that the program may read the counter itself: `cap_user_rdpmc`.
const CAN_BE_READ: u64 = 1 << 2;

/// How often a page is read again because the kernel has changed it meanwhile, as it does when the thread is switched.
const ATTEMPTS: usize = 100;

/// Returns the value of the counter that a page tells of, where `read` returns that of the processor's counter with a number. `None`
/// if the processor does not count it at the moment, or the program may not read it.
///
/// # Safety
/// The page is readable.
#[inline]
pub(super) unsafe fn value(page: *const perf_event_mmap_page, read: impl Fn(u32) -> u64) -> Option<u64> {
    for _ in 0..ATTEMPTS {
        // SAFETY: the page is readable. The kernel changes it at any time, on this processor.
        let lock = unsafe { (&raw const (*page).lock).read_volatile() };
        compiler_fence(Ordering::SeqCst);
        // SAFETY: as above.
        let (index, offset, width, can_be_read) = unsafe {
            (
                (&raw const (*page).index).read_volatile(),
                (&raw const (*page).offset).read_volatile(),
                (&raw const (*page).pmc_width).read_volatile(),
                (&raw const (*page).__bindgen_anon_1.capabilities).read_volatile() & CAN_BE_READ != 0,
            )
        };
        if index == 0 || !can_be_read || !(1..=64).contains(&width) {
            return None;
        }
        let counted = read(index - 1);
        compiler_fence(Ordering::SeqCst);
        // SAFETY: as above.
        if unsafe { (&raw const (*page).lock).read_volatile() } == lock {
            // The processor's counter has so many bits, of which the highest is a sign.
            let unused = 64 - u32::from(width);
            let counted = ((counted << unused) as i64) >> unused;
            return Some(offset.wrapping_add(counted) as u64);
        }
    }
    None
}

/// Returns the processor's counter with that number.
///
/// # Safety
/// The kernel permits it: the page of an event with that number says so.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) unsafe fn processor(number: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: reads a register of the processor, which the caller knows to be permitted.
    unsafe {
        std::arch::asm!("rdpmc", in("ecx") number, out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn page(index: u32, offset: i64, width: u16) -> perf_event_mmap_page {
        let mut page = perf_event_mmap_page::default();
        (page.index, page.offset, page.pmc_width) = (index, offset, width);
        page.__bindgen_anon_1.capabilities = CAN_BE_READ;
        page
    }

    fn value_of(page: &perf_event_mmap_page, counted: u64) -> Option<u64> {
        // SAFETY: the page is a value of the test.
        unsafe { value(page, |_| counted) }
    }

    #[test]
    fn counter_that_wraps_around_goes_on_from_the_offset() {
        // The kernel lets a counter of 48 bits begin in the negative half.
        let page = page(3, 1 << 47, 48);
        assert_eq!(value_of(&page, 1 << 47), Some(0));
        assert_eq!(value_of(&page, (1 << 48) - 1), Some((1 << 47) - 1));
        assert_eq!(value_of(&page, 5), Some((1 << 47) + 5));
        // Bits above the width mean nothing.
        assert_eq!(value_of(&page, 0xffff << 48 | 7), Some((1 << 47) + 7));
    }

    #[test]
    fn counter_is_read_by_the_number_before_the_index() {
        let page = page(3, 10, 64);
        let asked = Cell::new(None);
        // SAFETY: the page is a value of the test.
        let value = unsafe {
            value(&page, |number| {
                asked.set(Some(number));
                32
            })
        };
        assert_eq!((value, asked.get()), (Some(42), Some(2)));
    }

    #[test]
    fn page_that_changes_meanwhile_is_read_again() {
        let page = Cell::new(page(1, 100, 48));
        let reads = Cell::new(0);
        let read = |_| {
            reads.set(reads.get() + 1);
            if reads.get() == 1 {
                let mut changed = page.get();
                (changed.lock, changed.offset) = (changed.lock + 2, 200);
                page.set(changed);
            }
            1
        };
        // SAFETY: the page is a value of the test.
        assert_eq!(unsafe { value(page.as_ptr(), read) }, Some(201));
        assert_eq!(reads.get(), 2);
    }

    #[test]
    fn counter_that_does_not_count_or_is_forbidden_has_no_value() {
        assert_eq!(value_of(&page(0, 100, 48), 1), None);
        let mut forbidden = page(1, 100, 48);
        forbidden.__bindgen_anon_1.capabilities = !CAN_BE_READ;
        assert_eq!(value_of(&forbidden, 1), None);
        assert_eq!(value_of(&page(1, 100, 0), 1), None);
    }

    #[test]
    fn page_that_never_rests_has_no_value() {
        let page = Cell::new(page(1, 100, 48));
        let read = |_| {
            let mut changed = page.get();
            changed.lock += 1;
            page.set(changed);
            1
        };
        // SAFETY: the page is a value of the test.
        assert_eq!(unsafe { value(page.as_ptr(), read) }, None);
    }
}
