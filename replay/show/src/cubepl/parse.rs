//! Parser of CubePL, for the part that files of Score-P and Scalasca use.

use std::iter::Peekable;
use std::str::Chars;

use regex::RegexBuilder;

use super::machine::PREDEFINED;
use super::syntax::{Comparison, Expression, Flavour, Function, Statement};

/// Levels of parentheses and braces: as many as a person writes, and too few for the stack to overflow.
const DEPTH: usize = 64;

/// The most memory that a regular expression may take, compiled.
const REGEX_BYTES: usize = 1 << 20;

/// Something that is not understood. What it is does not matter: the metric has no values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NotUnderstood;

type Result<T> = std::result::Result<T, NotUnderstood>;

/// Reads a program: statements in braces, or an expression, which is returned.
pub(super) fn program(text: &str) -> Result<Vec<Statement>> {
    let mut parser = Parser { letters: text.chars().peekable(), depth: 0 };
    parser.skip();
    let statements = match parser.letters.peek() {
        Some('{') => parser.block()?,
        _ => vec![Statement::Return(parser.expression()?)],
    };
    while parser.takes(';') {}
    parser.skip();
    parser.letters.peek().map_or(Ok(statements), |_| Err(NotUnderstood))
}

struct Parser<'t> {
    letters: Peekable<Chars<'t>>,
    depth: usize,
}

impl Parser<'_> {
    /// Skips white space and comments.
    fn skip(&mut self) {
        loop {
            while self.letters.next_if(|letter| letter.is_whitespace()).is_some() {}
            let mut ahead = self.letters.clone();
            if ahead.next() != Some('/') || ahead.next() != Some('/') {
                return;
            }
            while self.letters.next_if(|&letter| letter != '\n').is_some() {}
        }
    }

    fn takes(&mut self, letter: char) -> bool {
        self.skip();
        self.letters.next_if_eq(&letter).is_some()
    }

    fn expect(&mut self, letter: char) -> Result<()> {
        if self.takes(letter) { Ok(()) } else { Err(NotUnderstood) }
    }

    /// Takes an operator of two letters, or a word.
    fn takes_all(&mut self, text: &str) -> bool {
        self.skip();
        let mut ahead = self.letters.clone();
        if !text.chars().all(|letter| ahead.next() == Some(letter)) {
            return false;
        }
        let is_word = text.chars().all(char::is_alphanumeric);
        if is_word
            && ahead.peek().is_some_and(|&letter| letter.is_alphanumeric() || matches!(letter, '_' | ':'))
        {
            return false;
        }
        self.letters = ahead;
        true
    }

    /// Letters up to one that ends them, which stays.
    fn until(&mut self, is_end: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some(letter) = self.letters.next_if(|&letter| !is_end(letter)) {
            text.push(letter);
        }
        text
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEPTH {
            return Err(NotUnderstood);
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn block(&mut self) -> Result<Vec<Statement>> {
        self.deeper(|parser| {
            parser.expect('{')?;
            let mut statements = Vec::new();
            loop {
                while parser.takes(';') {}
                if parser.takes('}') {
                    return Ok(statements);
                }
                statements.push(parser.statement()?);
            }
        })
    }

    fn statement(&mut self) -> Result<Statement> {
        if self.takes_all("if") {
            let mut branches = vec![(self.condition()?, self.block()?)];
            while self.takes_all("elseif") {
                branches.push((self.condition()?, self.block()?));
            }
            let otherwise = if self.takes_all("else") { self.block()? } else { Vec::new() };
            return Ok(Statement::If(branches, otherwise));
        }
        if self.takes_all("while") {
            return Ok(Statement::While(self.condition()?, self.block()?));
        }
        let statement = if self.takes_all("return") {
            Statement::Return(self.expression()?)
        } else if self.takes_all("global") {
            self.expect('(')?;
            self.skip();
            let name = self.until(|letter| letter == ')' || letter.is_whitespace());
            self.expect(')')?;
            Statement::Global(name)
        } else if self.takes_all("${") {
            let (name, position) = self.variable()?;
            self.expect('=')?;
            Statement::Assign(name, position, self.expression()?)
        } else {
            self.setting()?
        };
        self.expect(';')?;
        Ok(statement)
    }

    /// `cube::metric::set::NAME("value", "VOID")`; nothing else can be set.
    fn setting(&mut self) -> Result<Statement> {
        self.skip();
        let word = self.until(|letter| letter == '(');
        let name = word.trim().strip_prefix("cube::metric::set::").ok_or(NotUnderstood)?.to_owned();
        self.expect('(')?;
        let key = self.text()?;
        self.expect(',')?;
        let value = self.text()?;
        self.expect(')')?;
        match (&*key, &*value) {
            ("value", "VOID") => Ok(Statement::Void(name)),
            _ => Err(NotUnderstood),
        }
    }

    fn text(&mut self) -> Result<String> {
        self.expect('"')?;
        let text = self.until(|letter| letter == '"');
        self.letters.next().map(|_| text).ok_or(NotUnderstood)
    }

    fn condition(&mut self) -> Result<Expression> {
        self.expect('(')?;
        let condition = self.expression()?;
        self.expect(')')?;
        Ok(condition)
    }

    /// A variable behind its `${`.
    fn variable(&mut self) -> Result<(String, Option<Expression>)> {
        let name = self.until(|letter| letter == '}');
        self.expect('}')?;
        let position = match self.takes('[') {
            true => {
                let position = self.expression()?;
                self.expect(']')?;
                Some(position)
            }
            false => None,
        };
        let name = name.trim().to_owned();
        if name.contains("::") && !PREDEFINED.contains(&name.as_str()) {
            return Err(NotUnderstood);
        }
        Ok((name, position))
    }

    fn expression(&mut self) -> Result<Expression> {
        self.deeper(|parser| {
            let mut parts = vec![parser.exclusive()?];
            while parser.takes_all("or") {
                parts.push(parser.exclusive()?);
            }
            Ok(one_or(parts, Expression::Or))
        })
    }

    fn exclusive(&mut self) -> Result<Expression> {
        let mut parts = vec![self.conjunction()?];
        while self.takes_all("xor") {
            parts.push(self.conjunction()?);
        }
        Ok(one_or(parts, Expression::Xor))
    }

    fn conjunction(&mut self) -> Result<Expression> {
        let mut parts = vec![self.comparison()?];
        while self.takes_all("and") {
            parts.push(self.comparison()?);
        }
        Ok(one_or(parts, Expression::And))
    }

    fn comparison(&mut self) -> Result<Expression> {
        const SIGNS: [(&str, Comparison); 8] = [
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
            ("eq", Comparison::Same),
            ("seq", Comparison::SameIgnoringCase),
        ];
        let left = self.sum()?;
        if self.takes_all("=~") {
            self.expect('/')?;
            let pattern = self.regex()?;
            let pattern = RegexBuilder::new(&pattern).size_limit(REGEX_BYTES).build();
            return Ok(Expression::Matches(Box::new(left), pattern.map_err(|_| NotUnderstood)?));
        }
        let sign = SIGNS.into_iter().find(|(sign, _)| self.takes_all(sign));
        let Some((_, comparison)) = sign else { return Ok(left) };
        Ok(Expression::Compare(Box::new(left), comparison, Box::new(self.sum()?)))
    }

    /// A regular expression up to its slash; one behind a backslash belongs to it.
    fn regex(&mut self) -> Result<String> {
        let mut pattern = String::new();
        loop {
            match self.letters.next().ok_or(NotUnderstood)? {
                '/' => return Ok(pattern),
                '\\' if self.letters.peek() == Some(&'/') => {}
                '\\' => {
                    pattern.push('\\');
                    pattern.extend(self.letters.next());
                }
                letter => pattern.push(letter),
            }
        }
    }

    fn sum(&mut self) -> Result<Expression> {
        let mut terms = vec![(false, self.product()?)];
        loop {
            if self.takes('+') {
                terms.push((false, self.product()?));
            } else if self.takes('-') {
                terms.push((true, self.product()?));
            } else if terms.len() > 1 {
                return Ok(Expression::Sum(terms));
            } else {
                return terms.pop().map(|(_, term)| term).ok_or(NotUnderstood);
            }
        }
    }

    fn product(&mut self) -> Result<Expression> {
        let mut factors = vec![(false, self.power()?)];
        loop {
            if self.takes('*') {
                factors.push((false, self.power()?));
            } else if self.takes('/') {
                factors.push((true, self.power()?));
            } else if factors.len() > 1 {
                return Ok(Expression::Product(factors));
            } else {
                return factors.pop().map(|(_, factor)| factor).ok_or(NotUnderstood);
            }
        }
    }

    fn power(&mut self) -> Result<Expression> {
        let base = self.primary()?;
        match self.takes('^') {
            true => Ok(Expression::Power(Box::new(base), Box::new(self.primary()?))),
            false => Ok(base),
        }
    }

    fn primary(&mut self) -> Result<Expression> {
        self.skip();
        match self.letters.peek().copied().ok_or(NotUnderstood)? {
            '(' => self.condition(),
            '"' => self.text().map(Expression::Text),
            '-' => {
                self.letters.next();
                self.deeper(|parser| Ok(Expression::Minus(Box::new(parser.primary()?))))
            }
            '$' => {
                self.letters.next();
                self.expect('{')?;
                let (name, position) = self.variable()?;
                Ok(Expression::Variable(name, position.map(Box::new)))
            }
            letter if letter.is_ascii_digit() || letter == '.' => self.number(),
            _ => self.call(),
        }
    }

    fn number(&mut self) -> Result<Expression> {
        let mut text = String::new();
        while let Some(letter) = self.letters.next_if(|&letter| {
            letter.is_ascii_digit()
                || matches!(letter, '.' | 'e' | 'E')
                || matches!(letter, '+' | '-') && text.ends_with(['e', 'E'])
        }) {
            text.push(letter);
        }
        text.parse().map(Expression::Number).map_err(|_| NotUnderstood)
    }

    /// A function, or a metric: what stands in front of a parenthesis.
    fn call(&mut self) -> Result<Expression> {
        let word = self.until(|letter| matches!(letter, '(' | ')' | ';' | '{' | '}'));
        let word = word.trim();
        if word == "not" {
            return self.condition().map(|condition| Expression::Not(Box::new(condition)));
        }
        if let Some(name) = word.strip_prefix("metric::") {
            if ["fixed::", "call::", "context::", "set::", "get::"].iter().any(|kind| name.starts_with(kind))
            {
                return Err(NotUnderstood);
            }
            return Ok(Expression::Metric(name.to_owned(), self.flavour()?));
        }
        let function = Function::from_name(word).ok_or(NotUnderstood)?;
        self.expect('(')?;
        let mut arguments = vec![self.expression()?];
        while self.takes(',') {
            arguments.push(self.expression()?);
        }
        self.expect(')')?;
        if arguments.len() != function.arity() {
            return Err(NotUnderstood);
        }
        Ok(Expression::Call(function, arguments))
    }

    /// `()`, `(e)`, `(i,*)`: the second part is about locations, which have none below them.
    fn flavour(&mut self) -> Result<Flavour> {
        self.expect('(')?;
        let arguments = self.until(|letter| letter == ')');
        self.expect(')')?;
        let mut arguments = arguments.split(',').map(str::trim);
        let flavour = match arguments.next() {
            Some("" | "*") => Flavour::Same,
            Some("e") => Flavour::Exclusive,
            Some("i") => Flavour::Inclusive,
            _ => return Err(NotUnderstood),
        };
        match (arguments.next(), arguments.next()) {
            (None | Some("*" | "e" | "i"), None) => Ok(flavour),
            _ => Err(NotUnderstood),
        }
    }
}

fn one_or(mut parts: Vec<Expression>, join: fn(Vec<Expression>) -> Expression) -> Expression {
    match parts.pop() {
        Some(part) if parts.is_empty() => part,
        Some(part) => {
            parts.push(part);
            join(parts)
        }
        None => Expression::Number(0.0),
    }
}
