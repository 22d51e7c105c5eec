//! What a fleet searches, looked for again while it works.
//!
//! ```text
//! files ─ look ─▶ new ones are built, changed ones again, the rest is as it was ─▶ CurrentCollection ─┬─ dispatch: who joins, who leaves
//!                                                                                                    └─ pages
//! ```
//!
//! Invariants: a look that fails changes nothing; readers have the collection of one look, whole.

use super::discovery::{FleetCollection, FleetScope, KnownSources};
use crate::error::CampaignError;
use crate::project::Project;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// What a fleet searches at the moment; copies are the same one.
#[derive(Clone, Debug, Default)]
pub struct CurrentCollection(Arc<RwLock<Arc<FleetCollection>>>);

impl CurrentCollection {
    /// What was found at the start.
    #[must_use]
    pub fn new(collection: FleetCollection) -> CurrentCollection {
        CurrentCollection(Arc::new(RwLock::new(Arc::new(collection))))
    }

    /// As it is now.
    #[must_use]
    pub fn get(&self) -> Arc<FleetCollection> {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    /// What the fleet has to say from here on.
    pub(super) fn note(&self, notes: Vec<String>) {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let collection = FleetCollection::clone(&current);
        *current = Arc::new(FleetCollection { notes, ..collection });
    }

    /// What was found at a look; what the fleet has to say stays.
    fn set(&self, collection: FleetCollection) {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let notes = current.notes.clone();
        *current = Arc::new(FleetCollection { notes, ..collection });
    }
}

/// Looks for what a fleet searches.
#[derive(Debug)]
pub struct FleetCollector {
    scope: FleetScope,
    known: Mutex<KnownSources>,
    current: CurrentCollection,
}

impl FleetCollector {
    /// Finds, builds and looks at everything.
    ///
    /// # Errors
    /// Those of [`FleetScope::collect`].
    pub fn new(scope: FleetScope, project: &Project) -> Result<FleetCollector, CampaignError> {
        let mut known = KnownSources::default();
        let current = CurrentCollection::new(scope.collect_again(project, &mut known)?);
        Ok(FleetCollector { scope, known: Mutex::new(known), current })
    }

    /// One that has found this.
    #[cfg(test)]
    pub(super) fn of(collection: FleetCollection) -> FleetCollector {
        let (scope, known) = (FleetScope::default(), Mutex::default());
        FleetCollector { scope, known, current: CurrentCollection::new(collection) }
    }

    /// What was found at the last look.
    #[must_use]
    pub fn current(&self) -> &CurrentCollection {
        &self.current
    }

    /// Looks again: what was found before, and now.
    pub(super) fn look_again(
        &self,
        project: &Project,
    ) -> Result<(Arc<FleetCollection>, Arc<FleetCollection>), CampaignError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let collection = self.scope.collect_again(project, &mut known)?;
        let before = self.current.get();
        self.current.set(collection);
        Ok((before, self.current.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_fleet_has_to_say_stays_over_looks_until_it_says_something_else() {
        let current = CurrentCollection::new(FleetCollection::default());
        current.note(vec!["the disk is full".to_owned()]);
        current.set(FleetCollection::default());
        assert_eq!(current.get().notes, ["the disk is full"]);
        current.note(Vec::new());
        assert!(current.get().notes.is_empty());
    }
}
