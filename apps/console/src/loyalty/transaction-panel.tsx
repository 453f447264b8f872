import { Link } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Actor } from '../people/person.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/form.tsx';
import { Failure } from '../ui/notices.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { useOwnQuery } from '../ui/queries.ts';
import { Time } from '../ui/time.tsx';
import { useSay } from '../ui/toasts.tsx';
import { ContactCode } from './contact-code.tsx';
import { useTransaction, type Transaction } from '../contacts/points/use-transaction.ts';

const REVERSIBLE: readonly string[] = ['earn', 'adjust', 'spend'];

/** One row of the ledger, and the way to reverse it. */
export function TransactionPanel({
  id,
  onClose,
}: {
  id: string | undefined;
  onClose: () => void;
}): ReactNode {
  const t = useTranslations('loyalty');
  return (
    <Dialog open={id !== undefined} onClose={onClose} title={t('transaction')} place="side">
      {id !== undefined && <Content key={id} id={id} />}
    </Dialog>
  );
}

function Content({ id }: { id: string }): ReactNode {
  const t = useTranslations('loyalty');
  const api = useApi();
  const may = useMay();
  const { data, error, refetch } = useOwnQuery({
    queryKey: ['loyalty', 'transaction', id],
    queryFn: async ({ signal }) => {
      const [row, reversals] = await Promise.all([
        api.GET('/v1/loyalty/transactions/{id}', { params: { path: { id } }, signal }),
        api.GET('/v1/loyalty/transactions', { params: { query: { reverses_id: id, limit: 1 } }, signal }),
      ]);
      return { row: row.data, reversal: reversals.data.data[0] };
    },
  });
  if (data === undefined)
    return error === null ? (
      <div aria-busy className="bones h-48" />
    ) : (
      <Failure error={error} again={() => void refetch()} />
    );
  const { row, reversal } = data;
  const open = REVERSIBLE.includes(row.kind) && row.tombstoned_at === null && reversal === undefined;
  return (
    <>
      <Facts transaction={row} />
      {reversal !== undefined && (
        <Details>
          <Detail name={t('reversedBy')}>
            <ToRow id={reversal.id} /> · <Time at={reversal.created_at} />
          </Detail>
        </Details>
      )}
      {open && may('loyalty.transactions.create') && <Reverse id={id} />}
    </>
  );
}

function Facts({ transaction }: { transaction: Transaction }): ReactNode {
  const t = useTranslations('loyalty');
  const { number } = useFormatter();
  const { rule_id: rule, reverses_id: reversed } = transaction;
  const ids = [
    ['event', transaction.event_id],
    ['correlation', transaction.correlation_id],
    ['id', transaction.id],
  ] as const;
  return (
    <Details>
      <Detail name={t('kind')}>{t(`kinds.${transaction.kind}`)}</Detail>
      <Detail name={t('points')}>
        <span className="font-semibold tabular-nums">
          {number(transaction.points, { signDisplay: 'exceptZero' })}
        </span>
      </Detail>
      <Detail name={t('contact')}>
        <ContactCode id={transaction.contact_id} />
      </Detail>
      <Detail name={t('at')}>
        <Time at={transaction.occurred_at ?? transaction.created_at} />
      </Detail>
      {transaction.reason !== null && (
        <Detail name={t('reason')}>
          <bdi className="wrap-anywhere">{transaction.reason}</bdi>
        </Detail>
      )}
      {transaction.reference !== null && (
        <Detail name={t('reference')}>
          <bdi className="wrap-anywhere">{transaction.reference}</bdi>
        </Detail>
      )}
      {transaction.expires_at !== null && (
        <Detail name={t('expires')}>
          <Time at={transaction.expires_at} />
        </Detail>
      )}
      {rule !== null && (
        <Detail name={t('rule')}>
          <ToRule id={rule} version={transaction.rule_version ?? 1} />
        </Detail>
      )}
      {reversed !== null && (
        <Detail name={t('reverses')}>
          <ToRow id={reversed} />
        </Detail>
      )}
      <Detail name={t('actor')}>
        <Actor {...transaction.actor} />
      </Detail>
      {ids.map(([name, value]) =>
        value === null ? null : (
          <Detail key={name} name={t(name)}>
            <Id value={value} />
          </Detail>
        ),
      )}
    </Details>
  );
}

function ToRow({ id }: { id: string }): ReactNode {
  const { organization } = usePerson();
  return (
    <Link
      to="/o/$organization/loyalty"
      params={{ organization: organization.slug }}
      search={{ open: id }}
      className="text-accent underline"
    >
      <code className="font-mono text-xs">{id}</code>
    </Link>
  );
}

function ToRule({ id, version }: { id: string; version: number }): ReactNode {
  const t = useTranslations('loyalty');
  const may = useMay();
  const { organization } = usePerson();
  const text = t('ruleVersion', { version });
  if (!may('loyalty.rules.read')) return text;
  return (
    <Link
      to="/o/$organization/loyalty/rules"
      params={{ organization: organization.slug }}
      search={{ open: id }}
      className="text-accent underline"
    >
      {text}
    </Link>
  );
}

function Reverse({ id }: { id: string }): ReactNode {
  const t = useTranslations('loyalty');
  const say = useSay();
  const [reason, setReason] = useState('');
  const reverse = useTransaction(() => say(t('reversed')));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    reverse.mutate({ kind: 'reverse', reverses_id: id, reason });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <h3 className="font-medium">{t('reverse')}</h3>
      <p className="text-soft">{t('reverseLead')}</p>
      <TextField
        label={t('reason')}
        required
        maxLength={500}
        value={reason}
        error={problemAt(reverse.error, '/reason')}
        onChange={({ target }) => setReason(target.value)}
      />
      {reverse.error !== null && <Failure error={reverse.error} />}
      <div>
        <Button type="submit" look="danger" busy={reverse.isPending}>
          {t('reverse')}
        </Button>
      </div>
    </form>
  );
}
