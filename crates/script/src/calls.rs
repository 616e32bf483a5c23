//! Functions of the language that call a function of the script: a fault in it stops the script, and a result of
//! another type than the one that is needed does too. The language itself takes both for `false`.

use std::cmp::Ordering;

use rhai::{Array, Dynamic, EvalAltResult, FnPtr, Map as Object, NativeCallContext};

use super::api::{Api, Res, wrong};
use super::values::{kind, signed};

/// Whether a function of the script does not take this number of arguments.
fn is_other(error: &EvalAltResult, function: &FnPtr) -> bool {
    matches!(error, EvalAltResult::ErrorFunctionNotFound(name, _) if name.starts_with(function.fn_name()))
}

/// Calls a function with the item as an argument or as `this`, and with what follows it if it takes that.
fn call(ctx: &NativeCallContext<'_>, function: &FnPtr, item: &Dynamic, more: Dynamic) -> Res<Dynamic> {
    let first = function.call_raw(ctx, None, [item.clone()]);
    let Err(error) = first else { return first };
    if !is_other(&error, function) {
        return Err(error);
    }
    let attempts: [&dyn Fn() -> Res<Dynamic>; 3] = [
        &|| function.call_raw(ctx, Some(&mut item.clone()), []),
        &|| function.call_raw(ctx, None, [item.clone(), more.clone()]),
        &|| function.call_raw(ctx, Some(&mut item.clone()), [more.clone()]),
    ];
    for attempt in attempts {
        match attempt() {
            Err(error) if is_other(&error, function) => {}
            done => return done,
        }
    }
    Err(error)
}

fn truth(value: &Dynamic) -> Res<bool> {
    value.as_bool().map_err(|_| wrong(format!("the function gives {}, and true or false is needed", kind(value))))
}

fn is(ctx: &NativeCallContext<'_>, function: &FnPtr, item: &Dynamic, index: usize) -> Res<bool> {
    truth(&call(ctx, function, item, signed(index).into())?)
}

/// The index of the first item that a function holds for, from this index on; a negative one counts from the end.
fn position(ctx: &NativeCallContext<'_>, array: &Array, function: &FnPtr, start: i64) -> Res<Option<usize>> {
    let from_end = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
    let start = if start < 0 { array.len().saturating_sub(from_end) } else { from_end };
    for (index, item) in array.iter().enumerate().skip(start) {
        if is(ctx, function, item, index)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// The items that a function holds for, and the others.
fn parted(ctx: &NativeCallContext<'_>, array: &Array, function: &FnPtr) -> Res<(Array, Array)> {
    let (mut some, mut others) = (Array::new(), Array::new());
    for (index, item) in array.iter().enumerate() {
        let side = if is(ctx, function, item, index)? { &mut some } else { &mut others };
        side.push(item.clone());
    }
    Ok((some, others))
}

fn parted_object(ctx: &NativeCallContext<'_>, object: &Object, function: &FnPtr) -> Res<(Object, Object)> {
    let (mut some, mut others) = (Object::new(), Object::new());
    for (key, item) in object {
        let key_first = function.call_raw(ctx, None, [key.clone().into(), item.clone()]);
        let given = match key_first {
            Err(error) if is_other(&error, function) => {
                function.call_raw(ctx, Some(&mut item.clone()), [key.clone().into()])?
            }
            given => given?,
        };
        let side = if truth(&given)? { &mut some } else { &mut others };
        side.insert(key.clone(), item.clone());
    }
    Ok((some, others))
}

/// The order that a function gives: a number below, at or above zero, or whether the first one comes first.
fn order(ctx: &NativeCallContext<'_>, function: &FnPtr, one: &Dynamic, other: &Dynamic) -> Res<Ordering> {
    let given = function.call_raw(ctx, None, [one.clone(), other.clone()])?;
    let float = || given.as_float().ok().and_then(|given| given.partial_cmp(&0.0));
    match (given.as_int(), given.as_bool()) {
        (Ok(number), _) => Ok(number.cmp(&0)),
        (_, Ok(is_first)) => Ok(if is_first { Ordering::Less } else { Ordering::Greater }),
        _ => float().ok_or_else(|| {
            wrong(format!("the function gives {}, and a number below, at or above 0 is needed", kind(&given)))
        }),
    }
}

/// The items in order; equal ones stay as they were. A function that contradicts itself gives some order.
fn sorted(mut items: Array, order: &mut impl FnMut(&Dynamic, &Dynamic) -> Res<Ordering>) -> Res<Array> {
    if items.len() < 2 {
        return Ok(items);
    }
    let second = items.split_off(items.len() / 2);
    let (first, second) = (sorted(items, order)?, sorted(second, order)?);
    let mut all = Array::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    while let (Some(one), Some(other)) = (first.peek(), second.peek()) {
        let next = if order(one, other)?.is_gt() { second.next() } else { first.next() };
        all.extend(next);
    }
    all.extend(first.chain(second));
    Ok(all)
}

fn sort(ctx: NativeCallContext<'_>, array: &mut Array, function: FnPtr) -> Res<()> {
    *array = sorted(array.clone(), &mut |one, other| order(&ctx, &function, one, other))?;
    Ok(())
}

/// Without items that the function holds for together with the one before them that stays.
fn dedup(ctx: NativeCallContext<'_>, array: &mut Array, function: FnPtr) -> Res<()> {
    let mut kept: Array = Array::new();
    for item in array.iter() {
        let is_same = match kept.last() {
            Some(last) => truth(&function.call_raw(&ctx, None, [last.clone(), item.clone()])?)?,
            None => false,
        };
        if !is_same {
            kept.push(item.clone());
        }
    }
    *array = kept;
    Ok(())
}

pub(super) fn register(api: &mut Api) {
    let index = |index: Option<usize>| index.map_or(-1, signed);
    api.change("sort", sort);
    api.change("sort_by", sort);
    api.change("dedup", dedup);
    api.also("filter", |ctx: NativeCallContext, array: &mut Array, function: FnPtr| {
        parted(&ctx, array, &function).map(|(some, _)| some)
    });
    api.also("find", |ctx: NativeCallContext, array: &mut Array, function: FnPtr| {
        let found = position(&ctx, array, &function, 0)?;
        Ok::<_, Box<EvalAltResult>>(found.map_or(Dynamic::UNIT, |index| array[index].clone()))
    });
    api.also("find", |ctx: NativeCallContext, array: &mut Array, function: FnPtr, start: i64| {
        let found = position(&ctx, array, &function, start)?;
        Ok::<_, Box<EvalAltResult>>(found.map_or(Dynamic::UNIT, |index| array[index].clone()))
    });
    api.also("index_of", move |ctx: NativeCallContext, array: &mut Array, function: FnPtr| {
        position(&ctx, array, &function, 0).map(index)
    });
    api.also("index_of", move |ctx: NativeCallContext, array: &mut Array, function: FnPtr, start: i64| {
        position(&ctx, array, &function, start).map(index)
    });
    api.also("some", |ctx: NativeCallContext, array: &mut Array, function: FnPtr| {
        position(&ctx, array, &function, 0).map(|index| index.is_some())
    });
    api.also("all", |ctx: NativeCallContext, array: &mut Array, function: FnPtr| {
        for (index, item) in array.iter().enumerate() {
            if !is(&ctx, &function, item, index)? {
                return Ok(false);
            }
        }
        Ok::<_, Box<EvalAltResult>>(true)
    });
    api.change("drain", |ctx: NativeCallContext, array: &mut Array, function: FnPtr| {
        let (some, others) = parted(&ctx, array, &function)?;
        *array = others;
        Ok::<_, Box<EvalAltResult>>(some)
    });
    api.change("retain", |ctx: NativeCallContext, array: &mut Array, function: FnPtr| {
        let (some, others) = parted(&ctx, array, &function)?;
        *array = some;
        Ok::<_, Box<EvalAltResult>>(others)
    });
    api.also("filter", |ctx: NativeCallContext, object: &mut Object, function: FnPtr| {
        parted_object(&ctx, object, &function).map(|(some, _)| some)
    });
    api.change("drain", |ctx: NativeCallContext, object: &mut Object, function: FnPtr| {
        let (some, others) = parted_object(&ctx, object, &function)?;
        *object = others;
        Ok::<_, Box<EvalAltResult>>(some)
    });
    api.change("retain", |ctx: NativeCallContext, object: &mut Object, function: FnPtr| {
        let (some, others) = parted_object(&ctx, object, &function)?;
        *object = some;
        Ok::<_, Box<EvalAltResult>>(others)
    });
}
