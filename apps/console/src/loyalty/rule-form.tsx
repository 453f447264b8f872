import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { ConditionList } from '../segments/condition-list.tsx';
import { usePerson } from '../session/use-session.tsx';
import { FormFrame, FormPart, partOf, type DraftFormProps, type DraftPartProps } from '../ui/draft-form.tsx';
import { Checkbox, InstantField, Select, TextField } from '../ui/form.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { newKey, PERIODS, ROUNDINGS, RULE_OPS, type RuleDraft } from './rule-draft.ts';

/** Which events give how many points. */
export function RuleForm(props: DraftFormProps<RuleDraft>): ReactNode {
  const t = useTranslations('loyalty');
  const part = partOf(props);
  return (
    <FormFrame {...props}>
      <Which {...part} />
      <HowMany {...part} />
      <Caps {...part} />
      <When {...part} />
      <Checkbox
        label={t('enabledNow')}
        checked={part.draft.enabled}
        onChange={({ target }) => part.set({ enabled: target.checked })}
      />
      {props.children}
    </FormFrame>
  );
}

function Which({ draft, set, error }: DraftPartProps<RuleDraft>): ReactNode {
  const t = useTranslations('loyalty');
  return (
    <FormPart title={t('which')}>
      <TextField
        label={t('name')}
        required
        maxLength={100}
        value={draft.name}
        error={problemAt(error, '/name')}
        onChange={({ target }) => set({ name: target.value })}
      />
      <TextField
        label={t('eventName')}
        hint={t('eventHint')}
        className="field font-mono"
        spellCheck={false}
        required
        maxLength={200}
        value={draft.event}
        error={problemAt(error, '/event')}
        onChange={({ target }) => set({ event: target.value })}
      />
      <ConditionList
        conditions={draft.conditions}
        newKey={newKey}
        ops={RULE_OPS}
        problemAt={(path) => problemAt(error, `/conditions${path}`)}
        onChange={(conditions) => set({ conditions })}
      />
    </FormPart>
  );
}

function HowMany({ draft, set, error }: DraftPartProps<RuleDraft>): ReactNode {
  const t = useTranslations('loyalty');
  return (
    <FormPart title={t('howMany')}>
      <Select
        label={t('counted')}
        value={draft.type}
        options={(['per_amount', 'fixed'] as const).map((value) => ({
          value,
          label: t(`formulas.${value}`),
        }))}
        error={problemAt(error, '/formula')}
        onChange={({ target }) => set({ type: target.value === 'fixed' ? 'fixed' : 'per_amount' })}
      />
      <NumberField
        label={t('points')}
        min={1}
        required
        value={draft.points}
        error={problemAt(error, '/formula/points')}
        onChange={(points) => set({ points })}
      />
      {draft.type === 'per_amount' && <PerAmount draft={draft} set={set} error={error} />}
    </FormPart>
  );
}

function PerAmount({ draft, set, error }: DraftPartProps<RuleDraft>): ReactNode {
  const t = useTranslations('loyalty');
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <NumberField
        label={t('per')}
        hint={t('perHint')}
        min={1}
        required
        value={draft.per}
        error={problemAt(error, '/formula/per')}
        onChange={(per) => set({ per })}
      />
      <TextField
        label={t('currency')}
        required
        pattern="[A-Z]{3}"
        maxLength={3}
        value={draft.currency}
        error={problemAt(error, '/formula/currency')}
        onChange={({ target }) => set({ currency: target.value.toUpperCase() })}
      />
      <TextField
        label={t('amountProperty')}
        className="field font-mono"
        spellCheck={false}
        required
        value={draft.amountProperty}
        error={problemAt(error, '/formula/amount_property')}
        onChange={({ target }) => set({ amountProperty: target.value })}
      />
      <TextField
        label={t('currencyProperty')}
        className="field font-mono"
        spellCheck={false}
        required
        value={draft.currencyProperty}
        error={problemAt(error, '/formula/currency_property')}
        onChange={({ target }) => set({ currencyProperty: target.value })}
      />
      <Select
        label={t('rounding')}
        value={draft.rounding}
        options={ROUNDINGS.map((value) => ({ value, label: t(`roundings.${value}`) }))}
        onChange={({ target }) => set({ rounding: target.value as RuleDraft['rounding'] })}
      />
    </div>
  );
}

function Caps({ draft, set, error }: DraftPartProps<RuleDraft>): ReactNode {
  const t = useTranslations('loyalty');
  const { organization } = usePerson();
  const zones = [...new Set([organization.timezone, ...Intl.supportedValuesOf('timeZone')])];
  const zone = draft.capTimezone === '' ? organization.timezone : draft.capTimezone;
  return (
    <FormPart title={t('caps')}>
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField
          label={t('maxPerEvent')}
          hint={t('emptyForNone')}
          min={1}
          value={draft.maxPerEvent}
          error={problemAt(error, '/max_per_event')}
          onChange={(maxPerEvent) => set({ maxPerEvent })}
        />
        <NumberField
          label={t('maxPerContact')}
          hint={t('emptyForNone')}
          min={1}
          value={draft.capPoints}
          error={problemAt(error, '/max_per_contact', true)}
          onChange={(capPoints) => set({ capPoints })}
        />
        {draft.capPoints !== '' && (
          <>
            <Select
              label={t('period')}
              value={draft.capPeriod}
              options={PERIODS.map((value) => ({ value, label: t(`periods.${value}`) }))}
              onChange={({ target }) => set({ capPeriod: target.value as RuleDraft['capPeriod'] })}
            />
            <Select
              label={t('timezone')}
              value={zone}
              options={(zones.includes(zone) ? zones : [zone, ...zones]).map((value) => ({
                value,
                label: value,
              }))}
              onChange={({ target }) => set({ capTimezone: target.value })}
            />
          </>
        )}
      </div>
    </FormPart>
  );
}

function When({ draft, set, error }: DraftPartProps<RuleDraft>): ReactNode {
  const t = useTranslations('loyalty');
  return (
    <FormPart title={t('when')}>
      <div className="grid gap-4 sm:grid-cols-2">
        <InstantField
          label={t('validFrom')}
          hint={t('validFromHint')}
          value={draft.validFrom}
          error={problemAt(error, '/valid_from')}
          onChange={(validFrom) => set({ validFrom })}
        />
        <InstantField
          label={t('validTo')}
          hint={t('emptyForNone')}
          value={draft.validTo}
          error={problemAt(error, '/valid_to')}
          onChange={(validTo) => set({ validTo })}
        />
        <NumberField
          label={t('expiresAfterDays')}
          hint={t('expiresAfterHint')}
          min={1}
          max={3_650}
          value={draft.expiresAfterDays}
          error={problemAt(error, '/expires_after_days')}
          onChange={(expiresAfterDays) => set({ expiresAfterDays })}
        />
      </div>
    </FormPart>
  );
}
