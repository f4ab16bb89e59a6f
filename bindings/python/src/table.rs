//! Tables by the Arrow PyCapsule interface, which polars, DuckDB, pandas and pyarrow read without a copy.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Decimal128Type, Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array, RecordBatch,
    RecordBatchIterator, RecordBatchReader, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

/// A table with named, typed columns, for every library that reads the Arrow PyCapsule interface, without a copy: `polars.DataFrame(t)`,
/// `pyarrow.table(t)`, `pandas.DataFrame.from_arrow(t)`, `duckdb.sql("from t")`.
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

    /// Its rows, each a dict by column: money is a `decimal.Decimal`, what is unknown is None.
    #[pyo3(signature = (limit=None))]
    fn rows<'py>(&self, py: Python<'py>, limit: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let schema = self.batch.schema();
        let all = PyList::empty(py);
        let n = self.batch.num_rows();
        for nth in 0..limit.map_or(n, |it| it.min(n)) {
            let row = PyDict::new(py);
            for (field, column) in schema.fields().iter().zip(self.batch.columns()) {
                row.set_item(field.name(), value(py, column, nth)?)?;
            }
            all.append(row)?;
        }
        Ok(all)
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// Its first rows, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("ctxsim.display")?.call_method1("table", (slf,))
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

/// Returns a value of a column as Python has it.
fn value<'py>(py: Python<'py>, column: &ArrayRef, nth: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(nth) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match column.data_type() {
        DataType::Dictionary(..) => {
            let names = column.as_dictionary::<Int32Type>();
            let name = names.key(nth).map(|key| names.values().as_string::<i32>().value(key));
            name.into_pyobject(py)?
        }
        DataType::Utf8 => column.as_string::<i32>().value(nth).into_pyobject(py)?.into_any(),
        DataType::Boolean => column.as_boolean().value(nth).into_pyobject(py)?.to_owned().into_any(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(nth).into_pyobject(py)?.into_any(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(nth).into_pyobject(py)?.into_any(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(nth).into_pyobject(py)?.into_any(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(nth).into_pyobject(py)?.into_any(),
        DataType::List(_) => {
            let of = column.as_list::<i32>().value(nth);
            let texts: Vec<&str> = of.as_string::<i32>().iter().flatten().collect();
            texts.into_pyobject(py)?
        }
        _ => {
            let text = column.as_primitive::<Decimal128Type>().value_as_string(nth);
            py.import("decimal")?.call_method1("Decimal", (text,))?
        }
    })
}

/// Makes a table of columns: each a name, a kind (`name`, `text`, `texts`, `flag`, `count`, `number`) and its values.
#[pyfunction]
pub(crate) fn table(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Table> {
    let mut of = Columns::default();
    for (name, kind, values) in columns {
        match kind.as_str() {
            "name" => of.names(&name, values.extract::<Vec<String>>()?.iter().map(String::as_str)),
            "text" => of.texts(&name, values.extract::<Vec<Option<String>>>()?),
            "texts" => of.lists(&name, values.extract::<Vec<Option<Vec<String>>>>()?),
            "flag" => of.flags(&name, values.extract::<Vec<Option<bool>>>()?),
            "count" => of.whole(&name, values.extract::<Vec<Option<i64>>>()?),
            "number" => of.numbers(&name, values.extract::<Vec<Option<f64>>>()?),
            other => return Err(PyValueError::new_err(format!("unknown kind of column `{other}`"))),
        }
    }
    of.table()
}

fn unmade(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Columns of a table, put together one by one.
#[derive(Default)]
pub(crate) struct Columns(Vec<(Field, ArrayRef)>);

impl Columns {
    fn add(&mut self, name: &str, column: impl Array + 'static) {
        self.0.push((Field::new(name, column.data_type().clone(), true), Arc::new(column)));
    }

    /// Adds texts that repeat.
    pub(crate) fn names<'a>(&mut self, name: &str, values: impl IntoIterator<Item = &'a str>) {
        self.add(name, values.into_iter().collect::<DictionaryArray<Int32Type>>());
    }

    /// Adds texts.
    pub(crate) fn texts(&mut self, name: &str, values: impl IntoIterator<Item = Option<String>>) {
        self.add(name, StringArray::from_iter(values));
    }

    /// Adds lists of texts.
    fn lists(&mut self, name: &str, values: impl IntoIterator<Item = Option<Vec<String>>>) {
        let mut column = ListBuilder::new(StringBuilder::new());
        values.into_iter().for_each(|texts| column.append_option(texts.map(|it| it.into_iter().map(Some))));
        self.add(name, column.finish());
    }

    /// Adds flags; one that is unknown is null.
    pub(crate) fn flags(&mut self, name: &str, values: impl IntoIterator<Item = Option<bool>>) {
        self.add(name, BooleanArray::from_iter(values));
    }

    /// Adds small counts.
    pub(crate) fn counts(&mut self, name: &str, values: impl IntoIterator<Item = u32>) {
        self.add(name, UInt32Array::from_iter_values(values));
    }

    /// Adds tokens.
    pub(crate) fn tokens(&mut self, name: &str, values: impl IntoIterator<Item = u64>) {
        self.add(name, UInt64Array::from_iter_values(values));
    }

    /// Adds whole numbers, such as times; one that is unknown is null.
    pub(crate) fn whole(&mut self, name: &str, values: impl IntoIterator<Item = Option<i64>>) {
        self.add(name, Int64Array::from_iter(values));
    }

    /// Adds numbers; one that is unknown is null.
    pub(crate) fn numbers(&mut self, name: &str, values: impl IntoIterator<Item = Option<f64>>) {
        self.add(name, Float64Array::from_iter(values));
    }

    /// Adds exact US dollars, given in picodollars: decimals with 12 places.
    pub(crate) fn money<T: TryInto<i128>>(
        &mut self,
        name: &str,
        picodollars: impl IntoIterator<Item = Option<T>>,
    ) {
        let exact = picodollars.into_iter().map(|it| it.and_then(|it| it.try_into().ok()));
        let column: Decimal128Array = exact.collect();
        self.add(name, column.with_data_type(DataType::Decimal128(38, 12)));
    }

    /// Makes the table.
    pub(crate) fn table(self) -> PyResult<Table> {
        let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = self.0.into_iter().unzip();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
        batch.map(|batch| Table { batch }).map_err(|it| unmade(&it))
    }
}
