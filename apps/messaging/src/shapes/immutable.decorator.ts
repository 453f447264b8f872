import { custom, MayBeAbsent } from '@customer-platform/http';

/** A field that is set at creation and never again: given at all, it is refused as `immutable`. */
export function IsImmutable(): PropertyDecorator {
  return (target, property) => {
    MayBeAbsent()(target, property);
    custom('isImmutable', () => false, {
      message: '$property cannot be changed',
      context: { code: 'immutable' },
    })(target, property);
  };
}
