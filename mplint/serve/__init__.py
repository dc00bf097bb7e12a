"""Reviews on a forge's call: a server that is told of pull requests, and reviews each of them once.

What comes in is checked (`deliveries`), kept on disk before it is acknowledged (`queue`, in a `database`), and taken up
by a few workers (`worker`). Each review runs in a process of its own (`reviewer`) that has what it needs for one pull
request (`assignment`), fetches it (`checkout`) and ends in time. `server` brings them together.
"""
