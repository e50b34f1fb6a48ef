"""`gear-api conform`: the checks of the contract against any deployment. A new check goes to its subject's module."""
