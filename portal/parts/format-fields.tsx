import { useState } from 'preact/hooks';
import { DATASET_OPTIONS, FORMAT_OPTIONS, formatOf, KIND_OPTIONS, meaningOptions } from '../formats.ts';
import { Select } from './forms.tsx';

const AS_IT_SAYS = { value: '', text: 'as the data says' };

/** The format of a file or a feed, and what its entries mean if the format does not say it. */
export function FormatFields() {
  const [name, setName] = useState('urlhaus-csv');
  const format = formatOf(name);
  return (
    <>
      <Select label="Format" name="format" value={name} options={FORMAT_OPTIONS} onChoice={setName} />
      {format?.needsMeaning && (
        <Select key={name} label="Its entries" name="meaning" options={meaningOptions(format)} />
      )}
      {format?.takesDataset && !format.needsMeaning && (
        <Select label="Its addresses are" name="dataset" value="" options={[AS_IT_SAYS, ...DATASET_OPTIONS]} />
      )}
      {format?.takesKind && !format.needsMeaning && (
        <Select label="Its host names" name="kind" value="" options={[AS_IT_SAYS, ...KIND_OPTIONS]} />
      )}
    </>
  );
}
