import StoreKeys
