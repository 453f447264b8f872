import type { Schemas } from '@customer-platform/client';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Select, TextField } from '../../ui/form.tsx';
import { problemAt } from '../../ui/problem-at.ts';

type NationalId = Schemas['NationalIdInputDto'];

/** A national id as it stands in a form; without a value there is none. */
export interface TypedNationalId {
  type: NationalId['type'];
  value: string;
}

/** The kinds that the platform reads, the most common here first. */
const TYPES = {
  CL_RUT: true,
  PASSPORT: true,
  AR_CUIT: true,
  AR_DNI: true,
  BR_CNPJ: true,
  BR_CPF: true,
  CO_CC: true,
  CO_NIT: true,
  MX_CURP: true,
  MX_RFC: true,
  PE_DNI: true,
  PE_RUC: true,
  UY_CI: true,
} satisfies Record<NationalId['type'], true>;

export const NO_NATIONAL_ID: TypedNationalId = { type: 'CL_RUT', value: '' };

interface NationalIdFieldsProps {
  typed: TypedNationalId;
  error: unknown;
  required?: boolean;
  onChange: (typed: TypedNationalId) => void;
}

/** The kind of a national id and its number, as people write it. */
export function NationalIdFields({
  typed,
  error,
  required = false,
  onChange,
}: NationalIdFieldsProps): ReactNode {
  const t = useTranslations('contacts');
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Select
        label={t('nationalId.type')}
        value={typed.type}
        options={Object.keys(TYPES).map((type) => ({
          value: type,
          label: t(`nationalId.types.${type as NationalId['type']}`),
        }))}
        onChange={({ target }) => onChange({ ...typed, type: target.value as NationalId['type'] })}
      />
      <TextField
        label={t('nationalId.value')}
        hint={typed.type === 'CL_RUT' ? t('nationalId.rutHint') : undefined}
        required={required}
        maxLength={64}
        spellCheck={false}
        value={typed.value}
        error={problemAt(error, '/national_id', true)}
        onChange={({ target }) => onChange({ ...typed, value: target.value })}
      />
    </div>
  );
}

/** Returns what of it is sent; undefined where none was typed. */
export function sentNationalId({ type, value }: TypedNationalId): { national_id?: NationalId } {
  return value.trim() === '' ? {} : { national_id: { type, value: value.trim() } };
}
