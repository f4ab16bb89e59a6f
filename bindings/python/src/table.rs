//! Tables by the Arrow PyCapsule interface, which polars, DuckDB, pandas and pyarrow read without a copy.

use std::sync::Arc;

use arrow_array::builder::{
    Decimal128Builder, Float64Builder, Int64Builder, StringBuilder, StringDictionaryBuilder, UInt32Builder,
    UInt64Builder,
};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A table with named, typed columns. `polars.DataFrame(table)`, `pyarrow.table(table)`, `pandas.DataFrame.from_arrow(table)` and
/// `duckdb.sql("from table")` read it without a copy, by the Arrow PyCapsule interface.
#[pyclass(frozen, module = "ctxsim")]
pub(crate) struct Table {
    batch: RecordBatch,
}

#[pymethods]
impl Table {
    /// The names of the columns, in order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|it| it.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let (rows, columns) = (self.batch.num_rows(), self.batch.num_columns());
        format!("<ctxsim.Table: {rows} rows, {columns} columns; read it with polars.DataFrame(table)>")
    }

    /// The Arrow stream of the table. A requested schema is ignored, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let reader: Box<dyn RecordBatchReader + Send> = Box::new(batches);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }

    /// The Arrow schema of the table.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.batch.schema()).map_err(|it| unmade(&it))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

fn unmade(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Columns of a table, put together one by one.
#[derive(Default)]
pub(crate) struct Columns(Vec<(Field, ArrayRef)>);

impl Columns {
    fn add(&mut self, name: &str, array: ArrayRef, kind: DataType) {
        self.0.push((Field::new(name, kind, true), array));
    }

    /// Adds texts that repeat.
    pub(crate) fn names<'a>(&mut self, name: &str, values: impl IntoIterator<Item = &'a str>) {
        let mut column = StringDictionaryBuilder::<Int32Type>::new();
        values.into_iter().for_each(|it| column.append_value(it));
        let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        self.add(name, Arc::new(column.finish()), kind);
    }

    /// Adds texts.
    pub(crate) fn texts(&mut self, name: &str, values: impl IntoIterator<Item = Option<String>>) {
        let mut column = StringBuilder::new();
        values.into_iter().for_each(|it| column.append_option(it));
        self.add(name, Arc::new(column.finish()), DataType::Utf8);
    }

    /// Adds flags.
    pub(crate) fn flags(&mut self, name: &str, values: impl IntoIterator<Item = bool>) {
        let column: BooleanArray = values.into_iter().map(Some).collect();
        self.add(name, Arc::new(column), DataType::Boolean);
    }

    /// Adds small counts.
    pub(crate) fn counts(&mut self, name: &str, values: impl IntoIterator<Item = u32>) {
        let mut column = UInt32Builder::new();
        values.into_iter().for_each(|it| column.append_value(it));
        self.add(name, Arc::new(column.finish()), DataType::UInt32);
    }

    /// Adds tokens.
    pub(crate) fn tokens(&mut self, name: &str, values: impl IntoIterator<Item = u64>) {
        let mut column = UInt64Builder::new();
        values.into_iter().for_each(|it| column.append_value(it));
        self.add(name, Arc::new(column.finish()), DataType::UInt64);
    }

    /// Adds times.
    pub(crate) fn times(&mut self, name: &str, values: impl IntoIterator<Item = i64>) {
        let mut column = Int64Builder::new();
        values.into_iter().for_each(|it| column.append_value(it));
        self.add(name, Arc::new(column.finish()), DataType::Int64);
    }

    /// Adds numbers; one that is unknown is null.
    pub(crate) fn numbers(&mut self, name: &str, values: impl IntoIterator<Item = Option<f64>>) {
        let mut column = Float64Builder::new();
        values.into_iter().for_each(|it| column.append_option(it));
        self.add(name, Arc::new(column.finish()), DataType::Float64);
    }

    /// Adds exact US dollars, given in picodollars: decimals with 12 places.
    pub(crate) fn money<T: TryInto<i128>>(
        &mut self,
        name: &str,
        picodollars: impl IntoIterator<Item = Option<T>>,
    ) {
        let kind = DataType::Decimal128(38, 12);
        let mut column = Decimal128Builder::new().with_data_type(kind.clone());
        let exact = |it: Option<T>| it.and_then(|it| it.try_into().ok());
        picodollars.into_iter().for_each(|it| column.append_option(exact(it)));
        self.add(name, Arc::new(column.finish()), kind);
    }

    /// Makes the table.
    pub(crate) fn table(self) -> PyResult<Table> {
        let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = self.0.into_iter().unzip();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
        batch.map(|batch| Table { batch }).map_err(|it| unmade(&it))
    }
}
