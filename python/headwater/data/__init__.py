"""Attribution of data sets: one callable for any engine, and blocks of Parquet that many machines can write."""
