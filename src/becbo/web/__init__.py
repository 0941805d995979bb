"""The page `becbo serve` and its JSON API: translate, call `Campaign`, translate back."""
