import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Checkbox } from '../ui/form.tsx';
import { Failure } from '../ui/notices.tsx';

interface RenewDialogProps {
  title: string;
  lead: string;
  /** What publishing does to it. */
  publishLabel: string;
  /** Not where the newest version is a draft: what is not finished would go out with it. */
  mayPublish: boolean;
  busy: boolean;
  error: unknown;
  onClose: () => void;
  onRenew: (publish: boolean) => void;
  children?: ReactNode;
}

/** Asks whether what is renewed is looked at first, or sent as it is; shown while it is on the page. */
export function RenewDialog(props: RenewDialogProps): ReactNode {
  const { title, lead, publishLabel, mayPublish, busy, error, onClose, onRenew, children } = props;
  const t = useTranslations('messages');
  const words = useTranslations('ui');
  const [publish, setPublish] = useState(false);
  return (
    <Dialog open onClose={onClose} title={title} lead={lead}>
      {mayPublish ? (
        <div>
          <Checkbox
            label={publishLabel}
            checked={publish}
            disabled={busy}
            onChange={({ target }) => setPublish(target.checked)}
          />
          <p className="text-xs text-soft">{t('renewHint')}</p>
        </div>
      ) : (
        <p className="text-soft">{t('renewDraft')}</p>
      )}
      {children}
      {error != null && <Failure error={error} />}
      <DialogActions>
        <Button onClick={onClose}>{words('cancel')}</Button>
        <Button look="main" busy={busy} onClick={() => onRenew(mayPublish && publish)}>
          {t('renew')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
