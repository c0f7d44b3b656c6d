"""Attribution with Spark: predict_batch_udf opens the model once in each Python worker.

    pip install ".[data]" pyspark pandas
    python spark_udf.py ROWS.parquet OUT/

Spark looks at the first row of a batch only, and wants arrays and no None there: a row that failed has empty arrays and
its sentence in `error`, which is empty for the others.
"""
import sys

import numpy as np
from pyspark.ml.functions import predict_batch_udf
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, FloatType, StringType, StructField, StructType

import headwater as hw

RESULT = StructType([
    StructField("tokens", ArrayType(StringType())),
    StructField("values", ArrayType(FloatType())),
    StructField("error", StringType()),
])


def make():
    attribute = hw.Attributor("verb-number", "rollout", row="cls", threads=1)

    def predict(texts):
        columns = attribute({"text": texts})
        return [
            dict(tokens=np.array(tokens or [], object), values=np.array([] if error else values, np.float32), error=error or "")
            for tokens, values, error in zip(columns["tokens"], columns["values"], columns["error"])
        ]

    return predict


def main(rows: str, out: str) -> None:
    spark = SparkSession.builder.master("local[2]").getOrCreate()
    attribute = predict_batch_udf(make, return_type=RESULT, batch_size=100)
    data = spark.read.parquet(rows)
    data = data.select("id", "label", attribute("text").alias("found")).select("id", "label", "found.*")
    data.write.parquet(out)
    print(f"{spark.read.parquet(out).count()} rows")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
