"""A served API with its metrics, its errors and its operators, as tests of api use them."""
