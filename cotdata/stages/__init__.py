"""One file per command; each exports `app`, and no stage imports another."""
