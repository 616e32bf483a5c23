function Think() {}
