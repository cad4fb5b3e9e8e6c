"""The first-party rules, a module for each family. Registered by entry points, like anyone's."""
