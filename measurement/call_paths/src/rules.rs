//! Unwind rules: how to get from a function to its caller, from `.eh_frame`.
//!
//! A rule is a row of that table (DWARF 5, section 6.4, *Call Frame Information*), for the registers that
//! matter, in 24 bytes. The expressions that compilers emit (functions that align their stack, signal
//! handlers' return, the procedure linkage table) have few forms, all of which fit; so unwinding needs no
//! DWARF interpreter, and every rule can be cached.

use crate::architecture::{RETURN, SAVED, STACK};
use crate::modules::{Module, Section, Snapshot};
use crate::roles::{Role, is_in_linked_recorder};
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, NativeEndian, Pointer, Reader, Register,
    RegisterRule, UnwindContext, UnwindContextStorage, UnwindExpression, UnwindSection, UnwindTableRow,
};

/// In [`Rule::saved`]: the register still has the caller's value.
pub(crate) const KEPT: i16 = i16::MAX;
/// In [`Rule::saved`]: the caller's value is lost.
pub(crate) const LOST: i16 = i16::MIN;

/// The kind of a rule.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum RuleKind {
    /// Nothing: there is no such code, or no table covers it.
    #[default]
    Unknown,
    /// The function has no caller.
    Outermost,
    /// An ordinary function.
    Ordinary,
    /// The code that a signal handler returns to (augmentation `S`): its caller was interrupted, at the
    /// address that is found.
    Signal,
}

/// An unwind rule: the way from a function, at some instruction, to its caller.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Rule {
    pub(crate) kind: RuleKind,
    /// Role of the module that the function is in.
    pub(crate) role: Role,
    /// The register that offsets are relative to: 0 for the stack pointer, else 1 + its place in [`SAVED`].
    pub(crate) from: u8,
    /// Whether the caller's stack pointer (the CFA) is the word at `offset` rather than the sum itself.
    pub(crate) indirect: bool,
    /// Bytes from the register to the caller's stack pointer.
    pub(crate) offset: i32,
    /// Bits for those of `saved` (and [`SAVED`]`.len()` for the return address) whose places are relative to
    /// the register rather than to the caller's stack pointer.
    pub(crate) from_register: u16,
    /// Place of the return address, in words; [`KEPT`] if it is still in the link register.
    pub(crate) return_address: i16,
    /// Places of the caller's values of registers, in words, or [`KEPT`] or [`LOST`].
    pub(crate) saved: [i16; SAVED.len()],
}

/// Fixed-size memory for evaluating a row, so that nothing is allocated later.
#[derive(Default)]
pub(crate) struct RowStorage;

impl UnwindContextStorage<usize> for RowStorage {
    type Rules = [(Register, RegisterRule<usize>); 64];
    type Stack = [UnwindTableRow<usize, Self>; 6];
}

/// The reusable state of evaluating a row.
pub(crate) type Context = UnwindContext<usize, RowStorage>;

type Bytes = EndianSlice<'static, NativeEndian>;

/// Returns the address of `.eh_frame` according to the table of `PT_GNU_EH_FRAME`.
pub(crate) fn start_of_frames(table: Section<'_>) -> Option<u64> {
    let bases = BaseAddresses::default().set_eh_frame_hdr(table.address);
    match EhFrameHdr::new(table.bytes, NativeEndian).parse(&bases, 8).ok()?.eh_frame_ptr() {
        Pointer::Direct(address) => Some(address),
        Pointer::Indirect(_) => None,
    }
}

/// Returns the rule for an address in the code; never fails, but may be unknown.
pub(crate) fn rule_at(snapshot: &Snapshot, context: &mut Context, address: u64) -> Rule {
    let Some(module) = snapshot.find(address) else { return Rule::default() };
    let rule = look_up(module, context, address).unwrap_or_default();
    let role = if is_in_linked_recorder(address) { Role::Recorder } else { module.role };
    Rule { role, ..rule }
}

fn look_up(module: &Module, context: &mut Context, address: u64) -> Option<Rule> {
    let (table, frames) = (module.table?, module.frames?);
    let bases = BaseAddresses::default()
        .set_eh_frame_hdr(table.address)
        .set_eh_frame(frames.address)
        .set_text(module.begin);
    let table = EhFrameHdr::new(table.bytes, NativeEndian).parse(&bases, 8).ok()?;
    let mut section = EhFrame::from(EndianSlice::new(frames.bytes, NativeEndian));
    section.set_address_size(8);
    let table = table.table()?;
    let offset = table.pointer_to_offset(table.lookup(address, &bases).ok()?).ok()?;
    let entry = section.fde_from_offset(&bases, offset, EhFrame::cie_from_offset).ok()?;
    let row = entry.unwind_info_for_address(&section, &bases, context, address).ok()?;
    let kind = if entry.is_signal_trampoline() { RuleKind::Signal } else { RuleKind::Ordinary };
    rule_of(row, &section, address, kind)
}

fn rule_of(
    row: &UnwindTableRow<usize, RowStorage>,
    section: &EhFrame<Bytes>,
    address: u64,
    kind: RuleKind,
) -> Option<Rule> {
    let (register, offset, indirect) = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => (*register, *offset, false),
        CfaRule::Expression(expression) => cfa_expression(bytes_of(expression, section)?, address)?,
    };
    let from = match register {
        STACK => 0,
        register => 1 + SAVED.iter().position(|saved| *saved == register)? as u8,
    };
    let mut rule = Rule { kind, from, indirect, offset: i32::try_from(offset).ok()?, ..Rule::default() };
    for (i, &saved) in SAVED.iter().chain([&RETURN]).enumerate() {
        let place = match row.register(saved) {
            None | Some(RegisterRule::SameValue) if saved != RETURN => KEPT,
            // On x86-64 an undefined return address marks the first function of a thread; elsewhere the
            // default is the link register.
            None | Some(RegisterRule::SameValue) if cfg!(not(target_arch = "x86_64")) => KEPT,
            None | Some(RegisterRule::Undefined) if saved == RETURN => {
                return Some(Rule { kind: RuleKind::Outermost, ..Rule::default() });
            }
            Some(RegisterRule::Offset(offset)) => words(offset).unwrap_or(LOST),
            Some(RegisterRule::Expression(expression)) => {
                match bytes_of(&expression, section).and_then(sum_expression) {
                    Some((base, offset, [])) if base == register => {
                        rule.from_register |= 1 << i;
                        words(offset).unwrap_or(LOST)
                    }
                    _ => LOST,
                }
            }
            _ => LOST,
        };
        match rule.saved.get_mut(i) {
            Some(saved) => *saved = place,
            None => rule.return_address = place,
        }
    }
    (rule.return_address != LOST).then_some(rule)
}

/// Returns an offset in words, if it is a multiple of them and fits.
fn words(bytes: i64) -> Option<i16> {
    (bytes % 8 == 0)
        .then(|| i16::try_from(bytes / 8).ok())
        .flatten()
        .filter(|words| ![KEPT, LOST].contains(words))
}

fn bytes_of(expression: &UnwindExpression<usize>, section: &EhFrame<Bytes>) -> Option<&'static [u8]> {
    Some(expression.get(section).ok()?.0.slice())
}

/// Returns register and offset that an expression starts with (`DW_OP_breg`*n*), and the rest of it.
fn sum_expression(expression: &'static [u8]) -> Option<(Register, i64, &'static [u8])> {
    let (first, rest) = expression.split_first()?;
    let register = first.checked_sub(gimli::constants::DW_OP_breg0.0).filter(|register| *register < 32)?;
    let mut rest = EndianSlice::new(rest, NativeEndian);
    let offset = rest.read_sleb128().ok()?;
    Some((Register(register.into()), offset, rest.slice()))
}

/// Returns the caller's stack pointer as register, offset, and whether it is the word there.
fn cfa_expression(expression: &'static [u8], address: u64) -> Option<(Register, i64, bool)> {
    use gimli::constants::*;
    let (register, offset, rest) = sum_expression(expression)?;
    let linkage = |least: u8| {
        // The procedure linkage table: an entry pushes a word in its first instructions, `least` bytes long.
        let pushed = address & 15 >= u64::from(least.wrapping_sub(DW_OP_lit0.0));
        (register, offset.wrapping_add(if pushed { 8 } else { 0 }), false)
    };
    let (breg, lit15, and, ge) = (DW_OP_breg0.0 + 16, DW_OP_lit15.0, DW_OP_and.0, DW_OP_ge.0);
    match *rest {
        [] => Some((register, offset, false)),
        [deref] if deref == DW_OP_deref.0 => Some((register, offset, true)),
        [ip, 0, mask, a, least, b, three, shift, plus]
            if (ip, mask, a, b) == (breg, lit15, and, ge)
                && (three, shift, plus) == (DW_OP_lit3.0, DW_OP_shl.0, DW_OP_plus.0)
                && cfg!(target_arch = "x86_64") =>
        {
            Some(linkage(least))
        }
        _ => None,
    }
}
