//! The state that modules keep of one user, each in a type of its own, so that a user knows none of its modules.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::rc::Rc;

/// A value for each type that was asked for, beside its type: every request asks. Only a handful of modules keep any
/// state: a list is faster than a map.
#[derive(Default)]
pub(super) struct ModuleStates(RefCell<Vec<(TypeId, Rc<dyn Any>)>>);

impl ModuleStates {
    /// The value of this type, if it was ever asked for.
    pub(super) fn known<T: 'static>(&self) -> Option<Rc<T>> {
        let states = self.0.borrow();
        let (_, state) = states.iter().find(|(of, _)| *of == TypeId::of::<T>())?;
        Rc::clone(state).downcast().ok()
    }

    /// The value of this type, made when it is first asked for.
    pub(super) fn of<T: Default + 'static>(&self) -> Rc<T> {
        if let Some(state) = self.known() {
            return state;
        }
        let state = Rc::new(T::default());
        self.0.borrow_mut().push((TypeId::of::<T>(), Rc::clone(&state) as Rc<dyn Any>));
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn each_type_has_one_value_that_stays() {
        #[derive(Default)]
        struct One(Cell<u8>);
        #[derive(Default)]
        struct Other(Cell<u8>);
        let states = ModuleStates::default();
        assert!(states.known::<One>().is_none());
        states.of::<One>().0.set(1);
        states.of::<Other>().0.set(2);
        assert!(states.known::<One>().is_some());
        assert_eq!((states.of::<One>().0.get(), states.of::<Other>().0.get()), (1, 2));
    }
}
