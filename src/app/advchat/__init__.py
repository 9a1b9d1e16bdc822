"""advchat: a terminal chat application with live branching."""
