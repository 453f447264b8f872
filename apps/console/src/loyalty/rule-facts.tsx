import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import { Detail, Details } from '../ui/details.tsx';
import { Time } from '../ui/time.tsx';
import type { Rule } from './rule-draft.ts';

/** How many points it gives, in words. */
export function FormulaWords({ formula }: { formula: Rule['formula'] }): ReactNode {
  const t = useTranslations('loyalty');
  const { number } = useFormatter();
  const { points } = formula;
  if (formula.type === 'fixed') return t('fixedWords', { points });
  return t('perAmountWords', { points, per: number(formula.per), currency: formula.currency });
}

/** What a version of a rule says. */
export function RuleFacts({ rule }: { rule: Rule }): ReactNode {
  const t = useTranslations('loyalty');
  const { number } = useFormatter();
  const { formula, max_per_contact: cap } = rule;
  return (
    <Details>
      <Detail name={t('eventName')}>
        <code className="font-mono text-xs wrap-anywhere">{rule.event}</code>
      </Detail>
      <Detail name={t('formula')}>
        <FormulaWords formula={formula} />
        {formula.type === 'per_amount' && (
          <p className="text-xs text-soft">{t(`roundings.${formula.rounding ?? 'floor'}`)}</p>
        )}
      </Detail>
      {rule.conditions.length > 0 && (
        <Detail name={t('conditions')}>
          <ul>
            {rule.conditions.map(({ property, op, value }, at) => (
              <li key={at}>
                <code className="font-mono text-xs wrap-anywhere">
                  {property} {op} {JSON.stringify(value)}
                </code>
              </li>
            ))}
          </ul>
        </Detail>
      )}
      {rule.max_per_event !== null && <Detail name={t('maxPerEvent')}>{number(rule.max_per_event)}</Detail>}
      {cap != null && (
        <Detail name={t('maxPerContact')}>
          {t('capWords', { points: cap.points, period: t(`periods.${cap.period}`) })}
          {cap.timezone !== undefined && <span className="text-soft"> · {cap.timezone}</span>}
        </Detail>
      )}
      <Detail name={t('valid')}>
        <Time at={rule.valid_from} /> – {rule.valid_to !== null && <Time at={rule.valid_to} />}
      </Detail>
      <Detail name={t('expiry')}>
        {rule.expires_after_days === null
          ? t('neverExpires')
          : t('expiresAfter', { days: rule.expires_after_days })}
      </Detail>
    </Details>
  );
}

/** Whether a rule gives points now. */
export function RuleState({ rule }: { rule: Rule }): ReactNode {
  const t = useTranslations('loyalty');
  if (rule.deleted_at !== null) return <Badge tone="bad">{t('deleted')}</Badge>;
  return <Badge tone={rule.enabled ? 'good' : 'neutral'}>{t(rule.enabled ? 'on' : 'off')}</Badge>;
}
