"""Running code that nobody has read, and judging it where it cannot reach.

    from cotdata.sandbox.pool import configure, run_job
    from cotdata.sandbox.judge import judge

Trusted side: `judge` and `assertions` decide, `pool` and `worker` hold the clock,
`probe` finds out what this machine can isolate. Inside: `forkserver`, confined by
`landlock` and `seccomp`, forks one child per job, which runs `candidate`. The
modules that run inside import the standard library alone.

Levels: `full` is bubblewrap around the fork server plus Landlock, seccomp and
rlimits; `kernel` is the same without bubblewrap; `none` is rlimits only.
"""
