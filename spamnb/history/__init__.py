"""What was judged lately, and how: verdicts with their messages, to look at and to put right.

`log` appends each verdict to a file as it is given; `database` gathers them, to be listed and searched.
"""
