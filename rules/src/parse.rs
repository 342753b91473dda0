//! The grammar of expressions (advice 5.2), by precedence climbing.
//!
//! ```text
//! expr = or;  or = and {"or" and};  and = not {"and" not};  not = ["not"] cmp
//! cmp  = sum [("<"|"<="|"=="|"!="|">="|">") sum | "in" "[" lit {"," lit} "]"]
//! sum  = prod {("+"|"-") prod};  prod = unary {("*"|"/") unary};  unary = ["-"] atom
//! atom = NUMBER [UNIT] | STRING | NAME {"." NAME} | NAME "(" [expr {"," expr}] ")" | "(" expr ")"
//!      | "if" expr "then" expr "else" expr
//! ```

use std::ops::Range;

use crate::Type;
use crate::lex::{Token, TokenKind, Wrong, token};
use crate::source::quoted;

/// Nodes of an expression at most (advice 5.3).
pub(crate) const MOST_NODES: usize = 256;

/// Parentheses, calls and the like around a part of an expression at most (advice 5.3).
pub(crate) const MOST_DEPTH: usize = 32;

/// An expression as it was written. Parts have smaller numbers than the whole.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: usize,
}

/// A part of an expression with its place.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) at: Range<usize>,
}

/// What parts of expressions are.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum NodeKind {
    Number(f64, Type),
    Text(String),
    Name(String),
    Call(String, Vec<usize>),
    Not(usize),
    Negative(usize),
    Binary(Binary, usize, usize),
    In(usize, Vec<usize>),
    If(usize, usize, usize),
}

/// Operators of two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Binary {
    Or,
    And,
    Compare(Compare),
    Arithmetic(Arithmetic),
}

/// Comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Compare {
    Less,
    AtMost,
    Equal,
    Different,
    AtLeast,
    More,
}

/// Arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// Binary operators with their precedences; `not` stands between `and` and comparisons.
const OPERATORS: [(&str, u8, Binary); 12] = [
    ("or", 1, Binary::Or),
    ("and", 2, Binary::And),
    ("<", COMPARE, Binary::Compare(Compare::Less)),
    ("<=", COMPARE, Binary::Compare(Compare::AtMost)),
    ("==", COMPARE, Binary::Compare(Compare::Equal)),
    ("!=", COMPARE, Binary::Compare(Compare::Different)),
    (">=", COMPARE, Binary::Compare(Compare::AtLeast)),
    (">", COMPARE, Binary::Compare(Compare::More)),
    ("+", 5, Binary::Arithmetic(Arithmetic::Add)),
    ("-", 5, Binary::Arithmetic(Arithmetic::Subtract)),
    ("*", 6, Binary::Arithmetic(Arithmetic::Multiply)),
    ("/", 6, Binary::Arithmetic(Arithmetic::Divide)),
];

/// Precedence of `not`.
const NOT: u8 = 3;

/// Precedence of comparisons, of which only one may stand beside another.
const COMPARE: u8 = 4;

/// Reads an expression.
pub(crate) fn parse(text: &str) -> Result<Tree, Wrong> {
    let mut parser = Parser { text, next: token(text, 0)?, end: 0, nodes: Vec::new(), depth: 0 };
    let root = parser.binary(1)?;
    match parser.next.kind {
        TokenKind::End => Ok(Tree { nodes: parser.nodes, root }),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'t> {
    text: &'t str,
    /// The word that is read next.
    next: Token,
    /// Where the last word ended.
    end: usize,
    nodes: Vec<Node>,
    depth: usize,
}

impl Parser<'_> {
    /// Takes the next word.
    fn take(&mut self) -> Result<Token, Wrong> {
        self.end = self.next.at.end;
        let following = token(self.text, self.end)?;
        Ok(std::mem::replace(&mut self.next, following))
    }

    /// Takes a word of the language if it is the next one.
    fn take_word(&mut self, word: &str) -> Result<bool, Wrong> {
        let is_next = matches!(self.next.kind, TokenKind::Word(next) if next == word);
        if is_next {
            self.take()?;
        }
        Ok(is_next)
    }

    fn expect(&mut self, word: &str) -> Result<(), Wrong> {
        match self.take_word(word)? {
            true => Ok(()),
            false => Err(self.unexpected(&format!("\"{word}\""))),
        }
    }

    fn unexpected(&self, expected: &str) -> Wrong {
        let found = match self.next.kind {
            TokenKind::End => "end of the expression".to_owned(),
            _ => quoted(&self.text[self.next.at.clone()]),
        };
        Wrong::new(self.next.at.start, format!("unexpected {found}, expected {expected}"))
    }

    fn add(&mut self, begin: usize, kind: NodeKind) -> Result<usize, Wrong> {
        if self.nodes.len() == MOST_NODES {
            return Err(Wrong::new(begin, format!("expression with more than {MOST_NODES} parts")));
        }
        self.nodes.push(Node { kind, at: begin..self.end });
        Ok(self.nodes.len() - 1)
    }

    /// Reads what is inside of something else.
    fn inner<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Wrong>) -> Result<T, Wrong> {
        if self.depth == MOST_DEPTH {
            let message = format!("expression nested more than {MOST_DEPTH} deep");
            return Err(Wrong::new(self.next.at.start, message));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads operands that are joined by operators of at least this precedence.
    fn binary(&mut self, least: u8) -> Result<usize, Wrong> {
        let begin = self.next.at.start;
        let mut left = self.prefixed(least)?;
        let mut was_compared = false;
        while let TokenKind::Word(word) = self.next.kind {
            if word == "in" && least <= COMPARE && !was_compared {
                self.take()?;
                let list = self.list()?;
                left = self.add(begin, NodeKind::In(left, list))?;
                was_compared = true;
                continue;
            }
            let Some(&(_, precedence, operator)) = OPERATORS.iter().find(|operator| operator.0 == word)
            else {
                break;
            };
            if precedence < least {
                break;
            }
            if precedence == COMPARE && was_compared {
                return Err(self.unexpected("\"and\" or \"or\" between two comparisons"));
            }
            self.take()?;
            let right = self.binary(precedence + 1)?;
            left = self.add(begin, NodeKind::Binary(operator, left, right))?;
            was_compared = precedence == COMPARE;
        }
        Ok(left)
    }

    /// Reads an operand with what stands before it.
    fn prefixed(&mut self, least: u8) -> Result<usize, Wrong> {
        let begin = self.next.at.start;
        if least <= NOT && self.take_word("not")? {
            let operand = self.inner(|parser| parser.binary(COMPARE))?;
            return self.add(begin, NodeKind::Not(operand));
        }
        if self.take_word("-")? {
            let operand = self.inner(Self::atom)?;
            return self.add(begin, NodeKind::Negative(operand));
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<usize, Wrong> {
        let begin = self.next.at.start;
        match self.next.kind.clone() {
            TokenKind::Number(value, kind) => {
                self.take()?;
                self.add(begin, NodeKind::Number(value, kind))
            }
            TokenKind::Text(text) => {
                self.take()?;
                self.add(begin, NodeKind::Text(text))
            }
            TokenKind::Name(name) => {
                self.take()?;
                match self.take_word("(")? {
                    true => {
                        let arguments = self.inner(Self::arguments)?;
                        self.add(begin, NodeKind::Call(name, arguments))
                    }
                    false => self.add(begin, NodeKind::Name(name)),
                }
            }
            TokenKind::Word("(") => {
                self.take()?;
                let whole = self.inner(|parser| parser.binary(1))?;
                self.expect(")")?;
                Ok(whole)
            }
            TokenKind::Word("if") => {
                self.take()?;
                let (condition, yes, no) = self.inner(|parser| {
                    let condition = parser.binary(1)?;
                    parser.expect("then")?;
                    let yes = parser.binary(1)?;
                    parser.expect("else")?;
                    Ok((condition, yes, parser.binary(1)?))
                })?;
                self.add(begin, NodeKind::If(condition, yes, no))
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    /// Reads arguments up to the closing parenthesis.
    fn arguments(&mut self) -> Result<Vec<usize>, Wrong> {
        let mut arguments = Vec::new();
        if self.take_word(")")? {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.binary(1)?);
            if self.take_word(")")? {
                return Ok(arguments);
            }
            if !self.take_word(",")? {
                return Err(self.unexpected("\",\" or \")\""));
            }
        }
    }

    /// Reads the list behind `in`.
    fn list(&mut self) -> Result<Vec<usize>, Wrong> {
        self.expect("[")?;
        let mut list = Vec::new();
        loop {
            let begin = self.next.at.start;
            let kind = match self.next.kind.clone() {
                TokenKind::Number(value, kind) => NodeKind::Number(value, kind),
                TokenKind::Text(text) => NodeKind::Text(text),
                TokenKind::Name(name) => NodeKind::Name(name),
                _ => return Err(self.unexpected("a number, a text or a name")),
            };
            self.take()?;
            list.push(self.add(begin, kind)?);
            if self.take_word("]")? {
                return Ok(list);
            }
            if !self.take_word(",")? {
                return Err(self.unexpected("\",\" or \"]\""));
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The expression with all parentheses.
    pub(crate) fn printed(tree: &Tree, node: usize) -> String {
        let part = |&node: &usize| printed(tree, node);
        let joined = |nodes: &[usize]| nodes.iter().map(part).collect::<Vec<_>>().join(", ");
        match &tree.nodes[node].kind {
            NodeKind::Number(value, kind) => match kind {
                Type::Count => format!("{value}"),
                Type::Time => format!("{value} s"),
                Type::Bytes => format!("{value} B"),
                _ => format!("{value:e}"),
            },
            NodeKind::Text(text) if text.contains('"') => format!("'{text}'"),
            NodeKind::Text(text) => format!("\"{text}\""),
            NodeKind::Name(name) => name.clone(),
            NodeKind::Call(name, arguments) => format!("{name}({})", joined(arguments)),
            NodeKind::Not(operand) => format!("(not {})", part(operand)),
            NodeKind::Negative(operand) => format!("(-{})", part(operand)),
            NodeKind::In(operand, list) => format!("({} in [{}])", part(operand), joined(list)),
            NodeKind::If(condition, yes, no) => {
                format!("(if {} then {} else {})", part(condition), part(yes), part(no))
            }
            NodeKind::Binary(operator, left, right) => {
                let (sign, ..) = OPERATORS.iter().find(|known| known.2 == *operator).unwrap();
                format!("({} {sign} {})", part(left), part(right))
            }
        }
    }

    fn full(text: &str) -> String {
        let tree = parse(text).unwrap();
        printed(&tree, tree.root)
    }

    fn wrong(text: &str) -> (usize, String) {
        let wrong = parse(text).unwrap_err();
        (wrong.at, wrong.message)
    }

    #[test]
    fn products_bind_before_sums_sums_before_comparisons_and_these_before_words() {
        assert_eq!(full("a + b * c < d and not e or f"), "((((a + (b * c)) < d) and (not e)) or f)");
        assert_eq!(full("not a == b"), "(not (a == b))");
        assert_eq!(full("-a * b"), "((-a) * b)");
    }

    #[test]
    fn operators_of_one_precedence_bind_from_the_left() {
        assert_eq!(full("a - b - c"), "((a - b) - c)");
        assert_eq!(full("a / b * c"), "((a / b) * c)");
        assert_eq!(full("a - (b - c)"), "(a - (b - c))");
    }

    #[test]
    fn the_condition_of_if_ends_at_then_and_its_last_part_at_the_end() {
        assert_eq!(full("if a < 1 then b else c + 1"), "(if (a < 1) then b else (c + 1))");
    }

    #[test]
    fn calls_lists_and_units_are_parts() {
        assert_eq!(full("most(last_rank, wait) in [1, 2]"), "(most(last_rank, wait) in [1, 2])");
        assert_eq!(full("count() >= 1 and x > 5 ms"), "((count() >= 1) and (x > 0.005 s))");
        assert_eq!(full("x in [A, 'b'] and y"), "((x in [A, \"b\"]) and y)");
    }

    #[test]
    fn what_does_not_fit_is_said_with_its_place() {
        assert_eq!(wrong(""), (0, "unexpected end of the expression, expected a value".to_owned()));
        assert_eq!(wrong("a +"), (3, "unexpected end of the expression, expected a value".to_owned()));
        assert_eq!(wrong("a b"), (2, "unexpected \"b\", expected an operator or the end".to_owned()));
        assert_eq!(wrong("(a"), (2, "unexpected end of the expression, expected \")\"".to_owned()));
        assert_eq!(wrong("f(a b)"), (4, "unexpected \"b\", expected \",\" or \")\"".to_owned()));
        assert_eq!(wrong("a in b"), (5, "unexpected \"b\", expected \"[\"".to_owned()));
        assert_eq!(wrong("a in [b c]"), (8, "unexpected \"c\", expected \",\" or \"]\"".to_owned()));
        assert_eq!(wrong("a in []"), (6, "unexpected \"]\", expected a number, a text or a name".to_owned()));
        assert_eq!(wrong("if a 1"), (5, "unexpected \"1\", expected \"then\"".to_owned()));
        assert_eq!(
            wrong("a < b < c"),
            (6, "unexpected \"<\", expected \"and\" or \"or\" between two comparisons".to_owned())
        );
    }

    #[test]
    fn depth_and_nodes_are_limited() {
        assert!(parse(&format!("{}a{}", "(".repeat(32), ")".repeat(32))).is_ok());
        assert_eq!(wrong(&"(".repeat(1 << 20)).1, "expression nested more than 32 deep");
        assert_eq!(wrong(&"not ".repeat(1 << 18)).1, "unexpected \"not\", expected a value");
        assert_eq!(wrong(&"if ".repeat(1 << 18)).1, "expression nested more than 32 deep");
        assert!(parse(&format!("a{}", "+a".repeat(127))).is_ok());
        assert_eq!(wrong(&format!("a{}", "+a".repeat(1 << 18))).1, "expression with more than 256 parts");
    }

    fn expressions() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "[a-z]{1,3}(\\.[a-z]{1,3})?".prop_filter("a word", |name| token(name, 0)
                .is_ok_and(|token| matches!(token.kind, TokenKind::Name(_)))),
            (0u32..1000).prop_map(|n| n.to_string()),
            (0u32..1000).prop_map(|n| format!("{n} ms")),
            (0u32..1000).prop_map(|n| format!("{n}.5 %")),
            "\"[^\"]{0,4}\"",
        ];
        leaf.prop_recursive(5, 64, 3, |inner| {
            let sign = proptest::sample::select(OPERATORS.map(|operator| operator.0).to_vec());
            prop_oneof![
                (inner.clone(), sign, inner.clone()).prop_map(|(a, sign, b)| format!("({a} {sign} {b})")),
                inner.clone().prop_map(|a| format!("(not ({a}))")),
                inner.clone().prop_map(|a| format!("(-({a}))")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("f({a}, {b})")),
                inner.clone().prop_map(|a| format!("(({a}) in [1, x])")),
                (inner.clone(), inner.clone(), inner)
                    .prop_map(|(a, b, c)| format!("(if {a} then {b} else {c})")),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_again_as_the_same(text in expressions()) {
            if let Ok(tree) = parse(&text) {
                let once = printed(&tree, tree.root);
                prop_assert_eq!(&full(&once), &once);
            }
        }

        #[test]
        fn any_text_is_read_or_refused_with_a_place_in_it(text in "[ -~µé]{0,60}") {
            match parse(&text) {
                Ok(tree) => prop_assert!(tree.nodes.iter().all(|node| text.get(node.at.clone()).is_some())),
                Err(wrong) => prop_assert!(text.is_char_boundary(wrong.at)),
            }
        }
    }
}
